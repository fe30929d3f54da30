/// The options and operands of a command: the single table for parsing its arguments and for generating its
/// help, its completion and its part of the manual page.
struct CommandTable {
  /// The arguments after the command's name: "[OPTION]... [FILE|-]...". The first usage is the common one.
  let usages: [String]
  let operands: Operands
  /// The paragraphs before the options.
  let description: [String]
  let sections: [OptionSection]
  /// The paragraphs after the options.
  var notes: [String] = []
  /// "0 done; 2 wrong usage; ...": empty for commands whose exit codes carry no information.
  var exitCodes = ""
  let examples: [Example]

  /// True if operands can be files or directories.
  var takesFiles: Bool { operands != .none && operands != .texts }

  struct Example {
    /// The purpose as a clause without a full stop.
    let purpose: String
    let line: String

    init(_ purpose: String, _ line: String) {
      self.purpose = purpose
      self.line = line
    }
  }

  /// The rows of all sections. An option with different meanings in two sections occurs twice.
  var rows: [OptionRow] { sections.flatMap(\.rows) }

  /// --help and --version, which every command accepts.
  static let common = OptionSection(
    "",
    [
      OptionRow(.help, letter: "h", "print this help"),
      OptionRow(.version, letter: "V", "print the version"),
    ])
}

/// A group of options.
struct OptionSection {
  /// The heading; empty for none.
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
    /// The placeholder of the value, such as "DIR".
    case required(String)
    case optional(String)
  }

  let option: Option
  /// The one-letter name in ASCII.
  let letter: Character?
  let value: Value
  /// The use of the file that the value names; nil if it names none.
  let use: FileUse?
  /// The part of the value before the file name.
  let filePrefix: String
  /// The only accepted values, if they are fixed. They replace "{}" in the help.
  let choices: [String]
  /// The help text. Completion shows it up to the first semicolon.
  let help: String
  /// Additional sentences for the manual page.
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
    let parts = help.split(separator: "{}", omittingEmptySubsequences: false)
    self.help = choices.isEmpty ? help : parts.joined(separator: Self.alternatives(choices))
    self.detail = detail
  }

  var valueName: String {
    switch value {
    case .none: ""
    case .required(let name), .optional(let name): name
    }
  }

  /// The text that completion shows.
  var summary: Substring { help.prefix { $0 != ";" } }

  /// True if the value is only the name of a file or directory.
  var takesFile: Bool { use != nil && filePrefix.isEmpty }

  /// Returns "a, b or c".
  private static func alternatives(_ choices: [String]) -> String {
    guard let last = choices.last, choices.count > 1 else { return choices.joined() }
    return "\(choices.dropLast().joined(separator: ", ")) or \(last)"
  }
}
