/// Counts of the records so far. Every record has either succeeded or failed.
struct FilterCounters {
  var succeeded = 0
  /// The number of succeeded records without a text.
  var withoutText = 0
  /// Counts by `RecordProblem.Kind`, in the order of its cases.
  private(set) var failedByKind = Array(repeating: 0, count: RecordProblem.Kind.allCases.count)
  /// The number of records in the output, with or without a result.
  var written = 0
  var deadLetters = 0
  var blankLines = 0
  var windows = 0
  var batches = 0
  /// The bytes of all inputs up to the end of the last finished record.
  var inputBytes = 0
  /// The number of lines up to there; for length-prefixed records, their number.
  var lines = 0
  var entities = EntityCounts()
  /// The number of reports that records of a followed file were lost.
  var losses = 0

  var failed: Int { failedByKind.reduce(0, +) }
  var records: Int { succeeded + failed }

  mutating func countFailure(_ kind: RecordProblem.Kind) {
    if let index = RecordProblem.Kind.allCases.firstIndex(of: kind) { failedByKind[index] += 1 }
  }

  /// The name and value of each count, including failures by kind, as stored in a checkpoint.
  var entries: [(name: String, value: Int)] {
    [
      ("succeeded", succeeded), ("without_text", withoutText), ("written", written),
      ("dead_letters", deadLetters),
      ("blank_lines", blankLines), ("windows", windows), ("batches", batches), ("input_bytes", inputBytes),
      ("lines", lines), ("losses", losses),
    ] + zip(RecordProblem.Kind.allCases, failedByKind).map { ("failed_\($0.rawValue)", $1) }
      + entities.entries
  }

  init() {}

  /// More than any run can count; adding to such a number cannot overflow.
  private static let largest = 1 << 53

  /// Restores the counts from `entries`; nil if one is missing or impossible.
  init?(_ entries: [String: Int]) {
    func entry(_ name: String) -> Int { entries[name] ?? -1 }
    succeeded = entry("succeeded")
    withoutText = entry("without_text")
    written = entry("written")
    deadLetters = entry("dead_letters")
    blankLines = entry("blank_lines")
    windows = entry("windows")
    batches = entry("batches")
    inputBytes = entry("input_bytes")
    lines = entry("lines")
    losses = entry("losses")
    failedByKind = RecordProblem.Kind.allCases.map { entry("failed_\($0.rawValue)") }
    self.entities = EntityCounts(entries)
    guard self.entries.allSatisfy({ (0...Self.largest).contains($0.value) }) else { return nil }
  }
}
