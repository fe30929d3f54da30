import BertQACore
import Glibc

enum Tool {
  static var commands: [any Command.Type] {
    [
      AnswerCommand.self, AskCommand.self, IndexCommand.self, SearchCommand.self, ClassifyCommand.self,
      TrainClassifierCommand.self, EntitiesCommand.self, RestoreCommand.self,
      EmbedCommand.self,
      PredictCommand.self, GenerateCommand.self, FilterCommand.self, TokenizeCommand.self, InfoCommand.self,
      QuantizeCommand.self, CompleteCommand.self, HelpCommand.self,
    ]
  }

  /// Commands for building the project, which the help does not list.
  private static var hiddenCommands: [any Command.Type] { [ManualCommand.self] }

  static func run() -> ExitCode {
    Descriptors.occupyStandard()
    // With SIGXFSZ ignored, exceeding the file size limit is a write error, like a full disk.
    signal(SIGXFSZ, SIG_IGN)
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

  static func command(named name: String) throws(ToolError) -> any Command.Type {
    for command in commands + hiddenCommands where command.name == name { return command }
    throw .usage(
      "no command is called '\(name)'\(OptionParser.nearest(to: name, among: commands.map { $0.name }))",
      command: "bertqa")
  }

  private static func dispatch(to output: Output) throws(ToolError) -> ExitCode {
    let (arguments, count) = try CommandArguments.read()
    guard count > 1, let first = arguments[1] else {
      throw .usage("no command was given", command: "bertqa")
    }
    if first.pointee == CChar(bitPattern: UInt8(ascii: "-")) {
      let parsed = try OptionParser.parse(
        arguments, count: count, accepting: CommandTable.common.rows, command: "bertqa")
      if answerCommonOptions(parsed, help: HelpCommand.overview, to: output) { return .done }
      throw .usage("no command was given", command: "bertqa")
    }
    let command = try command(named: String(cString: first))
    let parsed = try OptionParser.parse(
      arguments + 1, count: count - 1, accepting: command.table.rows + CommandTable.common.rows,
      command: command.invocation)
    if answerCommonOptions(parsed, help: HelpText.of(command), to: output) { return .done }
    try NamedFiles.check(parsed, command.table)
    try FileLock.holdStandardOutput()
    return try command.run(parsed, to: output)
  }

  /// Handles --help and --version. Returns true if one was present, which ends the command.
  private static func answerCommonOptions(
    _ parsed: ParsedArguments, help: String, to output: Output
  ) -> Bool {
    for given in parsed.options {
      if given.option == .help {
        output.write(help)
        return true
      }
      if given.option == .version {
        output.write("bertqa \(libraryVersion)\n")
        return true
      }
    }
    return false
  }
}
