/// What became of the records so far. Every record is either among the succeeded or among the failed.
struct FilterCounters {
  var succeeded = 0
  /// Of them, those without a text.
  var withoutText = 0
  /// By `RecordProblem.Kind`, in the order of its cases.
  private(set) var failedByKind = Array(repeating: 0, count: RecordProblem.Kind.allCases.count)
  /// Records in the output, with a result or without.
  var written = 0
  var deadLetters = 0
  var blankLines = 0
  var windows = 0
  var batches = 0
  /// Bytes of the input, of all its files, up to the end of the last record that is done.
  var inputBytes = 0
  /// Lines up to there; for length-prefixed records their number.
  var lines = 0

  var failed: Int { failedByKind.reduce(0, +) }
  var records: Int { succeeded + failed }

  mutating func countFailure(_ kind: RecordProblem.Kind) {
    if let index = RecordProblem.Kind.allCases.firstIndex(of: kind) { failedByKind[index] += 1 }
  }

  /// Name and number of each, failures by kind included; a checkpoint keeps them so.
  var entries: [(name: String, value: Int)] {
    [
      ("succeeded", succeeded), ("without_text", withoutText), ("written", written),
      ("dead_letters", deadLetters),
      ("blank_lines", blankLines), ("windows", windows), ("batches", batches), ("input_bytes", inputBytes),
      ("lines", lines),
    ] + zip(RecordProblem.Kind.allCases, failedByKind).map { ("failed_\($0.rawValue)", $1) }
  }

  init() {}

  /// More than any run counts; what is added to such a number does not overflow.
  private static let largest = 1 << 53

  /// From `entries`; nil if one is not there, or is none that a run has counted.
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
    failedByKind = RecordProblem.Kind.allCases.map { kind in
      // A kind that checkpoints of this format did not have at first.
      if kind == .deadlineExceeded { return entries["failed_\(kind.rawValue)"] ?? 0 }
      return entry("failed_\(kind.rawValue)")
    }
    guard self.entries.allSatisfy({ (0...Self.largest).contains($0.value) }) else { return nil }
  }
}
