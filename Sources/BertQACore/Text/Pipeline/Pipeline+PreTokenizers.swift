extension Pipeline {
  /// Reads a pre-tokenizer: the steps that it comes to, in order.
  static func preTokenizers(_ step: ObjectReader) throws(BertQAError) -> [any PreTokenizer] {
    let type = try typeName(of: step, "a pre-tokenizer")
    switch type {
    case "Sequence":
      var steps: [any PreTokenizer] = []
      for part in try step.readers("pretokenizers") { steps += try preTokenizers(part) }
      return steps
    case "BertPreTokenizer": return [BertPreTokenizer()]
    case "WhitespaceSplit": return [SplitStep(SpacePattern(), .removed)]
    case "Whitespace": return [SplitStep(WordPattern(), .removed, inverted: true)]
    case "Punctuation":
      return [SplitStep(ClassPattern(.punctuation), try behavior(step) ?? .isolated)]
    case "Digits":
      let isolates = try step.bool("individual_digits") ?? false
      return [SplitStep(ClassPattern(.numeric), isolates ? .isolated : .contiguous)]
    case "Split": return try split(step)
    case "ByteLevel": return [try ByteLevel(step)]
    case "Metaspace": return [try Metaspace(step)]
    default:
      throw unsupported(
        step, "the pre-tokenizer", type,
        supported: [
          "BertPreTokenizer", "ByteLevel", "Digits", "Metaspace", "Punctuation", "Sequence", "Split",
          "Whitespace",
          "WhitespaceSplit",
        ])
    }
  }

  private static func behavior(_ step: ObjectReader) throws(BertQAError) -> SplitBehavior? {
    guard let name = try step.string("behavior") else { return nil }
    if let behavior = SplitBehavior(rawValue: name) { return behavior }
    throw unsupported(step, "the behavior", name, supported: SplitBehavior.allCases.map(\.rawValue))
  }

  private static func split(_ step: ObjectReader) throws(BertQAError) -> [any PreTokenizer] {
    let behavior = try step.required("behavior", behavior(step))
    let inverted = try step.bool("invert") ?? false
    let pattern = try step.required("pattern", step.reader("pattern"))
    if let text = try pattern.string("String") {
      // Nothing is found then, and so nothing is cut.
      if text.isEmpty { return [] }
      return [SplitStep(TextPattern(text), behavior, inverted: inverted)]
    }
    let expression = try pattern.required("Regex", pattern.string("Regex"))
    return [try splitStep(expression, behavior, inverted: inverted, file: step.file)]
  }
}
