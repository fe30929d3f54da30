/// What went wrong, in the numbering of the C ABI's `bertqa_status`.
public enum Status: Int32, Sendable {
  case ok = 0
  /// An argument is outside what the documentation allows.
  case invalidArgument = 1
  /// A file or directory does not exist or cannot be read.
  case io = 2
  /// A model file is malformed: truncated, hostile, or contradicting itself.
  case invalidModel = 3
  /// A valid model of a kind, or an option, that this version does not implement.
  case unsupported = 4
  /// The context's model cannot do what was asked (a tokenizer asked to answer, say).
  case wrongModel = 5
  /// Memory or another resource of the system ran out.
  case outOfMemory = 6
  /// The caller's cancellation hook asked to stop.
  case cancelled = 7
  /// A text or count is larger than the documented limit.
  case tooLarge = 8
  /// A defect in the library; please report the message.
  case `internal` = 9
}

/// Every failure of the library: a status, and a message that says what was wrong, where, and what
/// to do about it.
public struct BertQAError: Error, Sendable, Equatable, CustomStringConvertible {
  public let status: Status
  public let message: String

  public init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  public var description: String { message }
}
