import Glibc

/// The kind of a failure, with the numbers of the C ABI's `bertqa_status`.
public enum Status: Int32, Sendable, CaseIterable {
  case ok = 0
  /// An argument is outside what the documentation allows.
  case invalidArgument = 1
  /// A file or directory does not exist or cannot be read.
  case io = 2
  /// A model file is malformed: truncated, hostile, or contradicting itself.
  case invalidModel = 3
  /// The model or option is valid, but this version does not implement it.
  case unsupported = 4
  /// The context's model cannot do the requested task, for example a tokenizer asked to answer.
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

/// A failure of the library: a status, and a message that says what was wrong, where, and what to do.
public struct BertQAError: Error, Sendable, Equatable, CustomStringConvertible {
  public let status: Status
  /// The option or argument at fault, named as in the C header, such as "top_k"; nil if no argument is at
  /// fault.
  public let argument: String?
  /// The defect, such as "no such file". If there is an `argument`, a predicate of it: "is 0, but must be 1 to 1000".
  public let detail: String
  /// The index of the failed item of a batch; nil for calls on one item.
  public private(set) var item: Int?
  private var collection: String?

  public init(_ status: Status, _ detail: String) {
    self.init(status, argument: nil, detail)
  }

  /// - Parameter detail: continues `argument`: "is 0, but must be 1 to 1000".
  public init(_ status: Status, argument: String?, _ detail: String) {
    self.status = status
    self.argument = argument
    self.detail = detail
  }

  /// Throws `.invalidArgument` if the argument `name` is outside the range that the documentation allows.
  static func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(BertQAError) {
    let hasMaximum = range.upperBound < Int.max
    try check(
      name, value, range.contains(value),
      hasMaximum ? "\(range.lowerBound) to \(range.upperBound)" : "at least \(range.lowerBound)")
  }

  /// Throws `.invalidArgument` unless the value of the argument `name` is allowed.
  static func check(
    _ name: String, _ value: some CustomStringConvertible, _ isAllowed: Bool, _ allowed: String
  ) throws(BertQAError) {
    if isAllowed { return }
    throw BertQAError(.invalidArgument, argument: name, "is \(value), but must be \(allowed)")
  }

  /// Returns the same failure for item `index` of the array argument `collection`.
  public func of(item index: Int, in collection: String) -> BertQAError {
    var error = self
    error.item = index
    error.collection = collection
    return error
  }

  /// Returns the same failure for item `index` if the call has several items, else this failure.
  func of(item index: Int, in collection: String, count: Int) -> BertQAError {
    count > 1 ? of(item: index, in: collection) : self
  }

  /// Returns the same failure with the name that a caller's argument has. An error of no argument stays as it is.
  package func named(_ argument: String) -> BertQAError {
    guard self.argument != nil else { return self }
    var error = BertQAError(status, argument: argument, detail)
    (error.item, error.collection) = (item, collection)
    return error
  }

  /// Returns the same failure, attributed to `name`, such as an environment variable that chose the argument.
  func prefixed(by name: String) -> BertQAError {
    BertQAError(status, "\(name): \(message)")
  }

  /// Returns the result of `body`, with the name of the file in its errors.
  static func naming<Success>(
    _ file: String, _ body: () throws(BertQAError) -> Success
  ) throws(BertQAError) -> Success {
    do {
      return try body()
    } catch {
      throw error.prefixed(by: file)
    }
  }

  /// One line with item, argument and detail.
  public var message: String {
    let text = argument.map { "\($0) \(detail)" } ?? detail
    guard let item, let collection else { return text }
    return "\(collection)[\(item)]: \(text)"
  }

  public var description: String { message }
}

extension Result where Failure == BertQAError {
  /// The placeholder for an item's result in a batch until the result is known.
  static var missing: Self { .failure(BertQAError(.internal, "an item without a result")) }
}

extension BertQAError {
  /// The error for a failed system call on a file.
  /// - Parameter code: the error number; by default `errno`, which must still be that of the call.
  package static func system(_ action: String, _ path: String, _ code: Int32 = errno) -> BertQAError {
    let status: Status = code == ENOMEM ? .outOfMemory : .io
    return BertQAError(status, "\(path): cannot \(action): \(errorText(code))")
  }
}

/// Returns the system's text for an error number. `strerror` is not thread-safe.
private func errorText(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
      return "error \(code)"
    }
    return String(cString: base)
  }
}

/// Returns text from a file for an error message: in quotes, with control characters escaped, cut after 100
/// scalars.
func quoted(_ text: String) -> String {
  var result = "\""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    guard index < 100 else { return result + "…\"" }
    result += scalar.escaped(asASCII: false)
  }
  return result + "\""
}

/// Returns a tensor's dimensions for an error message, cut after 8.
func described(shape: [Int]) -> String {
  let shown = shape.prefix(8).map { "\($0)" }.joined(separator: ", ")
  return shape.count > 8 ? "[\(shown), …]" : "[\(shown)]"
}
