import BertQACore

/// What the process returns; documented in every help text and in the manual page.
enum ExitCode: Int32 {
  case done = 0
  /// At least one question has an answer in none of the documents.
  case noAnswer = 1
  case usage = 2
  /// A document or model cannot be read or is invalid, or a new model cannot be written.
  case input = 3
  /// Memory ran out, standard output cannot be written, or there is a defect in the program.
  case resources = 4
}

/// Why a command stops: an exit code and one line for standard error, "" for none.
struct ToolError: Error {
  let code: ExitCode
  let message: String
  /// Whether something is wrong with one text, so that others may be done.
  private(set) var isOfOneText = false

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// A usage error, with where to read the usage.
  static func usage(_ message: String, command: String) -> ToolError {
    ToolError(.usage, "\(message); try '\(command) --help'")
  }

  /// What is wrong with one text, so that others may be done.
  static func ofOneText(_ message: String) -> ToolError {
    var error = ToolError(.input, message)
    error.isOfOneText = true
    return error
  }

  /// The core's error, in the tool's words.
  /// - Parameter subject: which text it is about, where there are several.
  init(_ error: BertQAError, command: String, subject: String? = nil) {
    let message = (subject.map { "\($0): " } ?? "") + error.messageForTool
    switch error.status {
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
  /// What is wrong, with the argument as the tool spells it, and without the index of an item of a batch:
  /// the tool's batches are its own, and it says itself which text it was.
  var messageForTool: String {
    if status == .deadlineExceeded { return "took longer than \(Option.timeout.spelling) allows" }
    guard let argument else { return detail }
    return "\(Option(argument: argument)?.spelling ?? argument) \(detail)"
  }
}

/// Calls the core and gives its error in the tool's words.
func ofCore<Result>(
  _ command: String, subject: String? = nil, _ body: () throws(BertQAError) -> Result
) throws(ToolError) -> Result {
  do throws(BertQAError) {
    return try body()
  } catch {
    throw ToolError(error, command: command, subject: subject)
  }
}
