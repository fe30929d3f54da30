/// What becomes of records without a result.
struct ErrorPolicy {
  enum Action: String, CaseIterable {
    /// Written with an empty result.
    case null
    /// Written as they came.
    case pass
    case drop
    /// The first one ends the run.
    case fail
  }

  private(set) var action = Action.null
  /// The file that they are appended to, as they came.
  private(set) var deadLetters: ArgumentText?
  private var hasAction = false
  private static let deadLetter = "dead-letter="

  /// Whether a record that is too large to be kept in memory is written somewhere nevertheless.
  var keepsBytes: Bool { deadLetters != nil || action == .pass }

  /// Takes one --on-error. A dead letter is not written elsewhere unless another --on-error says so.
  mutating func set(_ value: ArgumentText, command: String) throws(ToolError) {
    let string = value.string
    if string.hasPrefix(Self.deadLetter), string.utf8.count > Self.deadLetter.utf8.count {
      deadLetters = ArgumentText(pointer: value.pointer + Self.deadLetter.utf8.count)
      if !hasAction { action = .drop }
    } else if let action = Action(rawValue: string) {
      self.action = action
      hasAction = true
    } else {
      throw .usage(
        "--on-error takes null, pass, drop, fail or dead-letter=FILE, not '\(string)'", command: command)
    }
  }
}
