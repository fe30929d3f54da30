/// `bertqa manual`: the manual page's source, for building the project.
enum ManualCommand: Command {
  static let name = "manual"
  static let summary = "print the manual page"

  static let table = CommandTable(
    usages: [""], description: ["Print the manual page in mdoc."], sections: [],
    examples: [.init("read it", "bertqa manual | man -l -"), .init("write it", "bertqa manual > bertqa.1")])

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    output.write(Manual.page)
    return .done
  }
}
