/// Implements `bertqa complete`, through which the shells' completion scripts query the tool's own tables.
enum CompleteCommand: Command {
  static let name = "complete"
  static let summary = "list what may come next on a command line"

  static let table = CommandTable(
    usages: ["-- [WORD]..."],
    operands: .none,
    description: [
      "List the completions of the last WORD of a command line, for the completion "
        + "scripts of shells. The WORDs are those after 'bertqa'. Each line is a word, and after a tab its meaning if known; ':files' means that any "
        + "file name is possible."
    ],
    sections: [],
    exitCodes: "0 done; 2 wrong usage; 4 the output cannot be written, or a defect in the program",
    examples: [
      .init("the commands that begin with a", "bertqa complete -- a"),
      .init("the values of an option", "bertqa complete -- answer --precision ''"),
    ])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let words = arguments.operands.map(\.string)
    for candidate in candidates(words.dropLast(), current: words.last ?? "") {
      output.write(candidate.word)
      if !candidate.meaning.isEmpty { output.write("\t\(candidate.meaning)") }
      output.write("\n")
    }
    return .done
  }

  private struct Candidate {
    var word: String
    var meaning: Substring = ""

    static let files = Candidate(word: ":files")
  }

  private static func candidates(_ before: ArraySlice<String>, current: String) -> [Candidate] {
    guard let name = before.first else {
      let commands = Tool.commands.map { Candidate(word: $0.name, meaning: $0.summary[...]) }
      return (commands + CommandTable.common.rows.map(candidate)).filter { $0.word.hasPrefix(current) }
    }
    guard let command = Tool.commands.first(where: { $0.name == name }) else { return [] }
    let rows = command.table.rows + CommandTable.common.rows
    let arguments = before.dropFirst()
    if arguments.contains("--") { return operands(of: command, current) }
    if let row = arguments.last.flatMap({ rowAwaitingValue($0, among: rows) }) {
      return values(of: row, current)
    }
    if let equals = current.firstIndex(of: "="), current.hasPrefix("--") {
      let name = current[..<equals]
      guard let row = rows.first(where: { $0.option.spelling == name }) else { return [] }
      let value = String(current[current.index(after: equals)...])
      return values(of: row, value).map { candidate in
        candidate.word == Candidate.files.word
          ? candidate : Candidate(word: "\(name)=\(candidate.word)", meaning: candidate.meaning)
      }
    }
    if current.hasPrefix("-") {
      return OptionParser.withoutRepetition(rows).map(candidate).filter { $0.word.hasPrefix(current) }
    }
    return operands(of: command, current)
  }

  private static func candidate(_ row: OptionRow) -> Candidate {
    Candidate(word: row.option.spelling, meaning: row.summary)
  }

  /// Returns the option whose value is the next word: "--model", "-m" or the last letter of "-hm".
  private static func rowAwaitingValue(_ word: String, among rows: [OptionRow]) -> OptionRow? {
    rows.first { row in
      guard case .required = row.value else { return false }
      if word == row.option.spelling { return true }
      return word.hasPrefix("-") && !word.hasPrefix("--") && row.letter != nil && word.last == row.letter
    }
  }

  private static func values(of row: OptionRow, _ current: String) -> [Candidate] {
    if !row.choices.isEmpty {
      return row.choices.filter { $0.hasPrefix(current) }.map { Candidate(word: $0) }
    }
    return row.takesFile ? [.files] : []
  }

  private static func operands(of command: any Command.Type, _ current: String) -> [Candidate] {
    if command.name == HelpCommand.name {
      return Tool.commands.filter { $0.name.hasPrefix(current) }
        .map { Candidate(word: $0.name, meaning: $0.summary[...]) }
    }
    return command.table.takesFiles ? [.files] : []
  }
}
