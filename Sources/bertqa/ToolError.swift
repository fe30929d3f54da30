import BertQACore
import Glibc

/// The exit codes, which every help text and the manual page document.
enum ExitCode: Int32 {
  case done = 0
  /// At least one question has no answer in any document, or probably none.
  case noAnswer = 1
  case usage = 2
  /// A document or model cannot be read or is invalid, or a new model cannot be written.
  case input = 3
  /// Memory ran out, standard output cannot be written, or the program has a defect.
  case resources = 4
}

/// The reason why a command stops: an exit code and one line for standard error, or "" for none.
struct ToolError: Error {
  let code: ExitCode
  let message: String
  /// True if the error concerns one text only, so that the command can continue with others.
  private(set) var isOfOneText = false

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// A usage error with a hint at the help.
  static func usage(_ message: String, command: String) -> ToolError {
    ToolError(.usage, "\(message); try '\(command) --help'")
  }

  /// A failed system call, with the system's reason.
  static func system(_ what: String, _ number: Int32) -> ToolError {
    ToolError(.resources, "\(what): \(String(cString: strerror(number)))")
  }

  /// An error that concerns one text only, so that the command can continue with others.
  static func ofOneText(_ message: String) -> ToolError {
    var error = ToolError(.input, message)
    error.isOfOneText = true
    return error
  }

  /// The message with the name of the file that it is about, with which it may begin already.
  func message(about shown: String) -> String {
    let beginnings = ["\(shown): ", "\(shown) ", "cannot read \(shown): "]
    return beginnings.contains(where: message.hasPrefix) ? message : "\(shown): \(message)"
  }

  /// The message of a call that took longer than its limit.
  static let tooLong = "took longer than \(Option.timeout.spelling) allows"

  /// Converts an error of the core.
  /// - Parameter subject: the text that the error concerns, if there are several.
  init(_ error: BertQAError, command: String, subject: String? = nil) {
    let message = (subject.map { "\($0): " } ?? "") + error.messageForTool
    switch error.status {
    case .invalidArgument where error.argument == nil && subject != nil:
      // The text, not an option, is at fault.
      self = .ofOneText(message)
    case .invalidArgument:
      self = .usage(message, command: command)
    case .io, .invalidModel, .unsupported, .wrongModel, .tooLarge, .deadlineExceeded:
      self.init(.input, message)
      isOfOneText = error.isAboveLimit
    default:
      self.init(.resources, message)
    }
  }
}

extension BertQAError {
  /// The message with the argument as the tool spells it, without the index in a batch: the tool forms the
  /// batches and names the text itself.
  var messageForTool: String {
    if status == .deadlineExceeded { return ToolError.tooLong }
    guard let argument else { return detail }
    return "\(Option(argument: argument)?.spelling ?? argument) \(detail)"
  }
}

/// Calls the core and converts its errors.
func ofCore<Result>(
  _ command: String, subject: String? = nil, _ body: () throws(BertQAError) -> Result
) throws(ToolError) -> Result {
  do throws(BertQAError) {
    return try body()
  } catch {
    throw ToolError(error, command: command, subject: subject)
  }
}
