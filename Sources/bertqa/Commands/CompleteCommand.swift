/// `bertqa complete`: what the shells' completion scripts ask, so that they know the tool's own tables.
enum CompleteCommand: Command {
  static let name = "complete"
  static let summary = "list what may come next on a command line"
  static let options: [Option] = []

  static let help = """
    Usage: bertqa complete -- [WORD]...

    List what the last WORD may become, where the WORDs are a command line behind
    'bertqa': for the completion scripts of shells. One word a line, behind a tab
    what it means if that is known; ':files' where any file may stand.

      -h, --help     print this help
      -V, --version  print the version

    Exit codes: 0 done; 2 wrong usage; 4 the output cannot be written, or a defect
    in the program.

    """

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
      return (commands + named(commonOptions, of: HelpCommand.self)).filter { $0.word.hasPrefix(current) }
    }
    guard let command = Tool.commands.first(where: { $0.name == name }) else { return [] }
    let options = command.options + commonOptions
    let arguments = before.dropFirst()
    if arguments.contains("--") { return operands(of: command, current) }
    if let option = arguments.last.flatMap({ optionAwaitingValue($0, among: options) }) {
      return values(of: option, in: command, current)
    }
    if let equals = current.firstIndex(of: "="), current.hasPrefix("--") {
      let name = current[..<equals].dropFirst(2)
      guard let option = options.first(where: { $0.rawValue == name }) else { return [] }
      let value = String(current[current.index(after: equals)...])
      return values(of: option, in: command, value).map { candidate in
        candidate.word == Candidate.files.word
          ? candidate : Candidate(word: "--\(name)=\(candidate.word)", meaning: candidate.meaning)
      }
    }
    if current.hasPrefix("-") {
      return named(options, of: command).filter { $0.word.hasPrefix(current) }
    }
    return operands(of: command, current)
  }

  private static let commonOptions: [Option] = [.help, .version]

  private static func named(_ options: [Option], of command: any Command.Type) -> [Candidate] {
    let help = HelpText(of: command)
    return options.map { Candidate(word: "--\($0.rawValue)", meaning: help.entry(for: $0)?.summary ?? "") }
  }

  /// The option whose value is the next word: "--model", "-m" or the last letter of "-hm".
  private static func optionAwaitingValue(_ word: String, among options: [Option]) -> Option? {
    options.first { option in
      guard option.value == .required else { return false }
      if word == "--\(option.rawValue)" { return true }
      guard word.hasPrefix("-"), !word.hasPrefix("--") else { return false }
      return word.utf8.last == option.letter
    }
  }

  private static func values(
    of option: Option, in command: any Command.Type, _ current: String
  ) -> [Candidate] {
    if let choices = command.choices[option] ?? ModelChoice.choices[option] {
      return choices.filter { $0.hasPrefix(current) }.map { Candidate(word: $0) }
    }
    let entry = HelpText(of: command).entry(for: option)
    return entry.map { HelpText.namesFile($0.valueName) } == true ? [.files] : []
  }

  private static func operands(of command: any Command.Type, _ current: String) -> [Candidate] {
    if command.name == HelpCommand.name {
      return Tool.commands.filter { $0.name.hasPrefix(current) }
        .map { Candidate(word: $0.name, meaning: $0.summary[...]) }
    }
    return HelpText(of: command).takesFiles ? [.files] : []
  }
}
