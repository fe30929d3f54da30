/// The treatment of records without a result.
struct ErrorPolicy {
  enum Action: String, CaseIterable {
    /// Writes the record with an empty result.
    case null
    /// Writes the record unchanged.
    case pass
    case drop
    /// Ends the run at the first one.
    case fail
  }

  /// The limit of failed records after which the run ends.
  enum Limit {
    case count(Int)
    /// A percentage of the records, checked once there are `fewest` of them and at the end.
    case percent(Double)

    /// The minimum number of records for a meaningful percentage.
    private static let fewest = 100

    init(_ given: ParsedOption) throws(ToolError) {
      let string = given.string
      if string.hasSuffix("%"), let percent = Double(string.dropLast()), (0...100).contains(percent) {
        self = .percent(percent)
      } else if let count = Int(string), count >= 0 {
        self = .count(count)
      } else {
        throw given.wrong("a number such as 100, or a part such as 0.5%")
      }
    }

    func isExceeded(_ failed: Int, of records: Int, isEnd: Bool) -> Bool {
      switch self {
      case .count(let count): failed > count
      case .percent(let percent):
        (isEnd || records >= Self.fewest) && Double(failed) * 100 > percent * Double(records)
      }
    }
  }

  private(set) var action = Action.null
  /// The file to which failed records are appended in their original form.
  private(set) var deadLetters: ArgumentText?
  private(set) var limit: Limit?
  /// True if the run succeeds despite failed records.
  private(set) var exitsZero = false
  private var hasAction = false
  private static let deadLetter = "dead-letter="

  /// True if a record that is too large for memory is still written somewhere.
  var keepsBytes: Bool { deadLetters != nil || action == .pass }

  static let rows = [
    OptionRow(
      .onError, value: "ACTION", use: .append, filePrefix: deadLetter,
      "what to do with a record without a result; null (the default): write it with null and the reason; "
        + "pass: write it unchanged; drop: do not write it; fail: end the run; dead-letter=FILE: append it to FILE, "
        + "also in addition to another action",
      detail:
        "The reason is the member bertqa_error, in a table the last column. A record that is not a JSON object "
        + "becomes the member bertqa_record of one. With null, the content of a record above --max-record-bytes "
        + "is not kept. Dead letters are written before the run continues; several runs may share the file."),
    OptionRow(
      .maxErrors, value: "N", "end the run when more than N records, or N% of them, have failed",
      detail: "A percentage is checked after 100 records and at the end of the input."),
    OptionRow(.exitZeroOnRecordErrors, "exit with 0 even if records have failed"),
  ]

  mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .maxErrors: limit = try Limit(given)
    case .exitZeroOnRecordErrors: exitsZero = true
    case .onError: try setAction(given)
    default: break
    }
  }

  /// Adds one --on-error. A dead letter is not written elsewhere unless another --on-error requests it.
  private mutating func setAction(_ given: ParsedOption) throws(ToolError) {
    let string = given.string
    if let path = given.text?.dropping(Self.deadLetter), path.pointer.pointee != 0 {
      deadLetters = path
      if !hasAction { action = .drop }
    } else if let action = Action(rawValue: string) {
      self.action = action
      hasAction = true
    } else {
      throw given.wrong("null, pass, drop, fail or dead-letter=FILE")
    }
  }
}
