/// A subcommand of `bertqa`.
protocol Command {
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// The options and operands, without --help and --version.
  static var table: CommandTable { get }
  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode
}

extension Command {
  /// The command as typed, for error messages.
  static var invocation: String { "bertqa \(name)" }
}
