extension Option {
  /// The words that the option takes for its value, if those are the only ones.
  var choices: [String] {
    switch self {
    case .precision: return precisions.map(\.key)
    case .isa: return instructionSets.map(\.key)
    case .color: return Terminal.colorChoices.map(\.key)
    default: return []
    }
  }
}
