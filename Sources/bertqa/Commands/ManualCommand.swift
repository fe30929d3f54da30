/// Implements `bertqa manual`, which prints the manual page's source, or the tables behind it, for the
/// project's build.
enum ManualCommand: Command {
  static let name = "manual"
  static let summary = "print the manual page"

  static let table = CommandTable(
    usages: ["[OPTION]..."], operands: .none, description: ["Print the manual page in mdoc."],
    sections: [
      OptionSection(
        "", [OptionRow(.json, "print the tables of commands and options instead, one JSON object per line")])
    ],
    examples: [.init("read it", "bertqa manual | man -l -"), .init("write it", "bertqa manual > bertqa.1")])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    guard arguments.has(.json) else {
      output.write(Manual.page)
      return .done
    }
    for command in Tool.commands { output.write(json(command)) }
    return .done
  }

  private static func json(_ command: any Command.Type) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.string("command", command.name)
      writer.string("operands", command.table.operands.rawValue)
      writer.array("options") { writer in
        for row in command.table.rows {
          writer.object { writer in
            for (key, value) in [
              ("name", row.option.rawValue), ("value", row.valueName), ("use", row.use?.rawValue ?? ""),
              ("file_prefix", row.filePrefix),
            ] {
              writer.string(key, value)
            }
          }
        }
      }
    }
    return writer.takeLine()
  }
}
