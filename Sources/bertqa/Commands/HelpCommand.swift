/// Implements `bertqa help`.
enum HelpCommand: Command {
  static let name = "help"
  static let summary = "explain a command"

  static let table = CommandTable(
    usages: ["[COMMAND]"], operands: .none,
    description: ["Print the help of COMMAND, or the list of commands."], sections: [],
    examples: [.init("the commands", "bertqa help"), .init("one of them", "bertqa help filter")])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    guard arguments.operands.count <= 1 else { throw arguments.usage("one command at a time") }
    if let name = arguments.operands.first {
      output.write(HelpText.of(try Tool.command(named: name.string)))
    } else {
      output.write(overview)
    }
    return .done
  }

  /// The help of the tool as a whole.
  static var overview: String {
    var text = "Usage: bertqa COMMAND [OPTION]... [OPERAND]...\n\n"
    text += "Find the answers to questions in documents, and classify texts, on the CPU.\n\n"
    let width = Tool.commands.map { $0.name.utf8.count }.max() ?? 0
    for command in Tool.commands {
      let padding = String(repeating: " ", count: width + 2 - command.name.utf8.count)
      text += "  \(command.name)\(padding)\(command.summary)\n"
    }
    text += "\n" + HelpText.wrapped(operandRule)
    text += """

      'bertqa COMMAND --help' explains one command; so does 'bertqa help COMMAND'.

        -h, --help     print this help
        -V, --version  print the version

      Exit codes: 0 done; 1 nothing found; 2 wrong usage; 3 a document or model
      cannot be read or is invalid; 4 out of memory, the output cannot be written, or
      a defect in the program.

      Examples:
        # the answer to a question
        bertqa answer -q "When was Skylab launched?" apollo.txt
        # the topic of a sentence
        bertqa classify "The striker scored twice in the final match."

      """
    return text
  }

  static let operandRule =
    "Operands are what the usage line calls them: a TEXT is the text itself, which --file FILE reads from a file; a "
    + "FILE is the name of a document or of records, as answer, filter and train-classifier take them. '-', or "
    + "none, is standard input."
}
