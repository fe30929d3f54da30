/// The words behind `bertqa`.
protocol Command {
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// What it is called with, besides --help and --version.
  static var table: CommandTable { get }
  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode
}

extension Command {
  /// The words to type, for error messages.
  static var invocation: String { "bertqa \(name)" }
}
