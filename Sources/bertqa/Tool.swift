import BertQACore
import Glibc

/// The words behind `bertqa`.
protocol Command {
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// The whole help text.
  static var help: String { get }
  /// Besides --help and --version, which every command takes.
  static var options: [Option] { get }
  /// The words that an option takes for its value, where those are the only ones; besides ModelChoice's.
  static var choices: [Option: [String]] { get }
  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode
}

enum Tool {
  static var commands: [any Command.Type] {
    [
      AnswerCommand.self, ClassifyCommand.self, TrainClassifierCommand.self, EmbedCommand.self,
      PredictCommand.self, FilterCommand.self, TokenizeCommand.self, InfoCommand.self, QuantizeCommand.self,
      CompleteCommand.self, HelpCommand.self,
    ]
  }

  static func run() -> ExitCode {
    let output = Output()
    do throws(ToolError) {
      let code = try dispatch(to: output)
      try output.finish()
      return code
    } catch {
      if !error.message.isEmpty { report(error.message) }
      return error.code
    }
  }

  static func command(named name: ArgumentText) throws(ToolError) -> any Command.Type {
    for command in commands where strcmp(command.name, name.pointer) == 0 { return command }
    throw .usage("no command is called '\(name.string)'", command: "bertqa")
  }

  private static func dispatch(to output: Output) throws(ToolError) -> ExitCode {
    let arguments = CommandLine.unsafeArgv
    let count = Int(CommandLine.argc)
    guard count > 1, let first = arguments[1] else {
      throw .usage("no command was given", command: "bertqa")
    }
    if first.pointee == CChar(bitPattern: UInt8(ascii: "-")) {
      let parsed = try OptionParser.parse(
        arguments, count: count, accepting: [.help, .version], command: "bertqa")
      if answerCommonOptions(parsed, help: HelpCommand.overview, to: output) { return .done }
      throw .usage("no command was given", command: "bertqa")
    }
    let command = try command(named: ArgumentText(pointer: first))
    let parsed = try OptionParser.parse(
      arguments + 1, count: count - 1, accepting: command.options + [.help, .version],
      command: command.invocation)
    if answerCommonOptions(parsed, help: command.help, to: output) { return .done }
    return try command.run(parsed, to: output)
  }

  /// Whether there was --help or --version, which ends the command.
  private static func answerCommonOptions(
    _ parsed: ParsedArguments, help: String, to output: Output
  ) -> Bool {
    for (option, _) in parsed.options {
      if option == .help {
        output.write(help)
        return true
      }
      if option == .version {
        output.write("bertqa \(libraryVersion)\n")
        return true
      }
    }
    return false
  }
}

extension Command {
  static var choices: [Option: [String]] { [:] }

  /// The words to type, for error messages.
  static var invocation: String { "bertqa \(name)" }
}
