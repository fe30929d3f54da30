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

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// A usage error, with where to read the usage.
  static func usage(_ message: String, command: String) -> ToolError {
    ToolError(.usage, "\(message); try '\(command) --help'")
  }

  /// The core's error, in the tool's words: its option names have hyphens.
  init(_ error: BertQAError, command: String) {
    switch error.status {
    case .invalidArgument:
      self = .usage(Option.spelledForTool(error.message), command: command)
    case .io, .invalidModel, .unsupported, .wrongModel, .tooLarge:
      self.init(.input, error.message)
    case .ok, .outOfMemory, .cancelled, .internal, .deadlineExceeded:
      self.init(.resources, error.message)
    }
  }
}
