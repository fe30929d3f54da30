/// What a command is called with: the one table from which its arguments are parsed and its help, its
/// completion and its part of the manual page are made.
struct CommandTable {
  /// What follows the command's name: "[OPTION]... [FILE|-]...". The first is the common form.
  let usages: [String]
  let operands: Operands
  /// Paragraphs before the options.
  let description: [String]
  let sections: [OptionSection]
  /// Paragraphs behind the options.
  var notes: [String] = []
  /// "0 done; 2 wrong usage; ...": empty for commands whose codes say nothing.
  var exitCodes = ""
  let examples: [Example]

  /// Whether the operands are files or directories: what the common form names last.
  var takesFiles: Bool {
    usages.first?.split(separator: " " as Character).last.map { last in
      last.split { !$0.isUppercase }.contains { $0 == "FILE" || $0 == "DIR" }
    } ?? false
  }

  struct Example {
    /// What it does, as a clause without an end.
    let purpose: String
    let line: String

    init(_ purpose: String, _ line: String) {
      self.purpose = purpose
      self.line = line
    }
  }

  /// Of all sections. An option that means something else in another section is there twice.
  var rows: [OptionRow] { sections.flatMap(\.rows) }

  /// --help and --version, which every command takes.
  static let common = OptionSection(
    "",
    [
      OptionRow(.help, letter: "h", "print this help"),
      OptionRow(.version, letter: "V", "print the version"),
    ])
}

/// Options that belong together.
struct OptionSection {
  /// A line above them; empty for none.
  let title: String
  let rows: [OptionRow]

  init(_ title: String = "", _ rows: [OptionRow]) {
    self.title = title
    self.rows = rows
  }
}

/// One option of one command.
struct OptionRow {
  enum Value: Equatable {
    case none
    /// By the name of what is to be given, such as "DIR".
    case required(String)
    case optional(String)
  }

  let option: Option
  /// The one-letter name, in ASCII.
  let letter: Character?
  let value: Value
  /// What is done with the file that the value names; nil if it names none.
  let use: FileUse?
  /// What comes before the file's name in the value.
  let filePrefix: String
  /// The words that the value may be, where those are the only ones. They replace "{}" in the help.
  let choices: [String]
  /// What it does; up to the first semicolon it is what completion says of it.
  let help: String
  /// What the manual page says besides, in sentences.
  let detail: String

  init(
    _ option: Option, letter: Character? = nil, value: String? = nil, isOptional: Bool = false,
    use: FileUse? = nil, filePrefix: String = "", choices: [String] = [], _ help: String, detail: String = ""
  ) {
    self.option = option
    self.letter = letter
    self.value = value.map { isOptional ? .optional($0) : .required($0) } ?? .none
    self.use = use
    self.filePrefix = filePrefix
    self.choices = choices
    self.help = help.split(separator: "{}", omittingEmptySubsequences: false).joined(
      separator: Self.alternatives(choices))
    self.detail = detail
  }

  var valueName: String {
    switch value {
    case .none: ""
    case .required(let name), .optional(let name): name
    }
  }

  /// What completion says of it.
  var summary: Substring { help.prefix { $0 != ";" } }

  /// Whether the value names a file or directory, and nothing else.
  var takesFile: Bool { use != nil && filePrefix.isEmpty }

  /// "a, b or c".
  private static func alternatives(_ choices: [String]) -> String {
    guard let last = choices.last, choices.count > 1 else { return choices.joined() }
    return "\(choices.dropLast().joined(separator: ", ")) or \(last)"
  }
}
