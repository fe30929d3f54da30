enum HelpCommand: Command {
  static let name = "help"
  static let summary = "explain a command"
  static let options: [Option] = []

  static let help = """
    Usage: bertqa help [COMMAND]

    Print the help of COMMAND, or the list of commands.

      -h, --help     print this help
      -V, --version  print the version

    """

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    guard arguments.operands.count <= 1 else {
      throw .usage("one command at a time", command: invocation)
    }
    if let name = arguments.operands.first {
      output.write(try Tool.command(named: name).help)
    } else {
      output.write(overview)
    }
    return .done
  }

  /// Help of the tool as a whole.
  static var overview: String {
    var text = "Usage: bertqa COMMAND [OPTION]... [OPERAND]...\n\n"
    text += "Find the answers to questions in documents, and classify texts, on the CPU.\n\n"
    let width = Tool.commands.map { $0.name.utf8.count }.max() ?? 0
    for command in Tool.commands {
      let padding = String(repeating: " ", count: width + 2 - command.name.utf8.count)
      text += "  \(command.name)\(padding)\(command.summary)\n"
    }
    text += """

      'bertqa COMMAND --help' explains one command; so does 'bertqa help COMMAND'.

        -h, --help     print this help
        -V, --version  print the version

      Exit codes: 0 done; 1 nothing found; 2 wrong usage; 3 a document or model
      cannot be read or is invalid; 4 out of memory, the output cannot be written, or
      a defect in the program.

      """
    return text
  }
}
