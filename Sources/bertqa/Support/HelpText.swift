/// What a command's help says of its options and operands: the one place where that is written.
struct HelpText {
  /// What is said of one option.
  struct Entry {
    /// What its value is called: "DIR" or "[=WHEN]"; empty without a value.
    var valueName: Substring
    /// What it does, to the first semicolon: "longest answer".
    var summary: Substring
  }

  private let lines: [Substring]

  init(of command: any Command.Type) {
    lines = command.help.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Whether the operands are files or directories.
  var takesFiles: Bool { lines.first.map(Self.namesFile) ?? false }

  /// Whether a name such as FILE or OUT_DIR is among these words.
  static func namesFile(_ words: Substring) -> Bool {
    words.split { !$0.isUppercase }.contains { $0 == "FILE" || $0 == "DIR" }
  }

  /// Nil if the help does not have the option.
  func entry(for option: Option) -> Entry? {
    for (index, line) in lines.enumerated() {
      guard let text = Self.text(behind: option, in: line) else { continue }
      // " DIR           directory of the model; default: ...": more than one space ends the value's name.
      let isAlone = text.hasPrefix("  ")
      var words = text.split(separator: " " as Character)
      let valueName = isAlone || words.isEmpty ? "" : words.removeFirst()
      // The description goes on in lines with nothing in the column of the options.
      for next in lines[(index + 1)...] {
        guard next.hasPrefix("            ") else { break }
        words += next.split(separator: " " as Character)
      }
      let description = words.joined(separator: " ")[...]
      return Entry(
        valueName: valueName,
        summary: description.prefix { $0 != ";" })
    }
    return nil
  }

  /// "  -m, --model DIR    directory of ..." gives " DIR    directory of ..." for the option's own line.
  private static func text(behind option: Option, in line: Substring) -> Substring? {
    let letter = option.letter.map { "  -\(Character(Unicode.Scalar($0))), " } ?? "      "
    let start = "\(letter)--\(option.rawValue)"
    guard line.hasPrefix(start) else { return nil }
    let text = line.dropFirst(start.count)
    return text.isEmpty || text.first == " " || text.first == "[" ? text : nil
  }
}
