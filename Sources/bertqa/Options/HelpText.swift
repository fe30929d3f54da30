/// Formats a command's help from its table, in at most 80 columns.
enum HelpText {
  private static let width = 80
  /// The column of the help texts.
  private static let column = 28

  static func of(_ command: any Command.Type) -> String {
    let table = command.table
    var text = ""
    for (index, usage) in table.usages.enumerated() {
      text += "\(index == 0 ? "Usage:" : "  or: ") bertqa \(command.name) \(usage)\n"
    }
    for paragraph in table.description { text += "\n\(wrapped(paragraph))" }
    for section in table.sections + [CommandTable.common] {
      text += section.title.isEmpty ? "\n" : "\n\(section.title):\n"
      for row in section.rows { text += entry(row) }
    }
    for note in table.notes { text += "\n\(wrapped(note))" }
    if !table.exitCodes.isEmpty { text += "\n\(wrapped("Exit codes: \(table.exitCodes)."))" }
    text += "\nExamples:\n"
    for example in table.examples { text += "  # \(example.purpose)\n  \(example.line)\n" }
    return text
  }

  /// Formats one option: "  -m, --model DIR           directory of the model".
  private static func entry(_ row: OptionRow) -> String {
    var names = row.letter.map { "  -\($0), " } ?? "      "
    names += row.option.spelling
    switch row.value {
    case .none: break
    case .required(let name): names += " \(name)"
    case .optional(let name): names += "[=\(name)]"
    }
    let indent = String(repeating: " ", count: column)
    let lines = split(row.help, width: width - column)
    let first = String(lines.first ?? "")
    // Names that leave less than two spaces go on a line of their own.
    let head =
      names.utf8.count + 2 > column
      ? "\(names)\n\(indent)\(first)"
      : names + String(repeating: " ", count: column - names.utf8.count) + first
    return ([head] + lines.dropFirst().map { indent + $0 }).joined(separator: "\n") + "\n"
  }

  static func wrapped(_ paragraph: String) -> String {
    split(paragraph, width: width).map { $0 + "\n" }.joined()
  }

  private static func split(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " " as Character) {
      if !line.isEmpty, line.utf8.count + 1 + word.utf8.count > width {
        lines.append(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
