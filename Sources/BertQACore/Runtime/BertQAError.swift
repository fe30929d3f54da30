/// What went wrong, in the numbering of the C ABI's `bertqa_status`.
public enum Status: Int32, Sendable, CaseIterable {
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
  /// A text, a count or the memory that a call would need is above a limit.
  case tooLarge = 8
  /// A defect in the library; please report the message.
  case `internal` = 9
  /// The call's deadline passed.
  case deadlineExceeded = 10
}

/// Every failure of the library: a status, and a message that says what was wrong, where, and what
/// to do about it.
public struct BertQAError: Error, Sendable, Equatable, CustomStringConvertible {
  public let status: Status
  /// The option or argument at fault, named as in the C header, such as "top_k"; nil where it is none.
  public let argument: String?
  /// What is wrong; where there is an `argument`, a predicate of it: "is 0, but must be 1 to 1000".
  public let detail: String
  /// Of a batch, which item failed; nil for calls on one item.
  public private(set) var item: Int?
  private var collection: String?

  public init(_ status: Status, _ detail: String) {
    self.init(status, argument: nil, detail)
  }

  /// - Parameter detail: goes on from `argument`: "is 0, but must be 1 to 1000".
  public init(_ status: Status, argument: String?, _ detail: String) {
    self.status = status
    self.argument = argument
    self.detail = detail
  }

  /// The same failure, of item `index` of the array argument `collection`.
  public func of(item index: Int, in collection: String) -> BertQAError {
    var error = self
    error.item = index
    error.collection = collection
    return error
  }

  /// The same failure, of item `index` where the call has several; as it is for a call on one item.
  func of(item index: Int, in collection: String, count: Int) -> BertQAError {
    count > 1 ? of(item: index, in: collection) : self
  }

  /// The same failure of what `name` chose, such as an environment variable.
  func prefixed(by name: String) -> BertQAError {
    BertQAError(status, "\(name): \(message)")
  }

  /// One line: item, argument and detail.
  public var message: String {
    let text = argument.map { "\($0) \(detail)" } ?? detail
    guard let item, let collection else { return text }
    return "\(collection)[\(item)]: \(text)"
  }

  public var description: String { message }
}

extension Result where Failure == BertQAError {
  /// Stands in a batch for the result of an item until it is there.
  static var missing: Self { .failure(BertQAError(.internal, "an item without a result")) }
}

/// The results, or the first failure.
func all<Success>(
  _ results: [Result<Success, BertQAError>], _ call: CallOptions
) throws(BertQAError) -> [Success] {
  let monitor = CallMonitor(call)
  var all = try [Success](resultCapacity: results.count, monitor)
  for result in results {
    all.append(try result.get())
    if all.count % CallPoll.elementInterval == 0 { try monitor.check() }
  }
  return all
}
