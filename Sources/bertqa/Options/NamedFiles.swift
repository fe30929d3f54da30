import BertQACore
import Glibc

/// The files that a command line names, with standard input and output. Checks them for conflicts before the
/// command runs.
struct NamedFiles {
  private struct Named {
    let shown: String
    /// The option, such as "--html", or another description of the argument.
    let role: String
    let use: FileUse
    let place: FilePlace
    /// True if the name and the links that it leads through are valid UTF-8. All outputs but `.output` are opened by
    /// `shown`.
    var isSpelled = true
  }

  private let arguments: ParsedArguments
  private var inputs: [Named] = []
  private var outputs: [Named] = []

  /// Throws if an output is "-", is also an input or another output, or cannot be replaced.
  static func check(_ arguments: ParsedArguments, _ table: CommandTable) throws(ToolError) {
    let files = NamedFiles(arguments, table)
    for (index, output) in files.outputs.enumerated() {
      guard output.shown != "-" else {
        let kind = output.use == .directory ? "directory" : "file"
        throw arguments.usage(
          "\(output.role) cannot be standard output; for a \(kind) called -, pass ./-")
      }
      guard output.isSpelled || output.use == .output else {
        throw arguments.usage(ArgumentText.notUTF8(output.role, output.shown))
      }
      try files.checkIsNoInput(output)
      for other in files.outputs[..<index] { try files.check(output, other) }
    }
    try files.checkModels(table)
    for output in files.outputs where output.use == .replace || output.use == .page {
      try FileWriting.prepare(toReplace: output.shown)
      if output.use == .page { try files.checkIsPage(output) }
    }
  }

  private init(_ arguments: ParsedArguments, _ table: CommandTable) {
    self.arguments = arguments
    for row in table.rows {
      guard let use = row.use else { continue }
      var names = arguments.options.filter { $0.option == row.option }.compactMap(\.text)
        .compactMap { $0.dropping(row.filePrefix) }
      // The last of several outputs counts.
      if !use.isInput { names = names.suffix(1) }
      for name in names { add(name, row.option.spelling, use) }
    }
    for (index, operand) in arguments.operands.enumerated() {
      if let use = table.operands.use(ofOperand: index) {
        add(operand, use == .collection ? "DB" : "an operand", use)
      }
    }
    if table.operands.readsStandardInput(arguments) { add(.standardInput, "standard input", .read) }
    if !outputs.contains(where: { $0.use == .output }) {
      let name = "standard output"
      outputs.append(
        Named(shown: name, role: name, use: .output, place: FilePlace(descriptor: STDOUT_FILENO)))
    }
  }

  private mutating func add(_ name: ArgumentText, _ role: String, _ use: FileUse) {
    var named =
      use == .read
      ? Named(shown: name.shownAsFile, role: role, use: use, place: FilePlace(name))
      : Named(shown: name.string, role: role, use: use, place: FilePlace(path: name.pointer))
    named.isSpelled = FileWriting.links(from: name.pointer) != nil
    if use.isInput { inputs.append(named) } else { outputs.append(named) }
  }

  private func checkIsNoInput(_ output: Named) throws(ToolError) {
    // Terminals and sockets are bidirectional. A pipe, in contrast, would feed the output back to the input.
    if [S_IFCHR, S_IFSOCK].contains(output.place.kind) { return }
    for input in inputs where output.place.isSame(as: input.place) {
      if input.place.identity == nil {
        throw ToolError(
          .input, "cannot read \(input.shown): No such file or directory; \(output.role) would write it")
      }
      throw arguments.usage(
        "\(input.shown) cannot be both read and written: it is the file of \(output.role), too")
    }
  }

  private func check(_ output: Named, _ other: Named) throws(ToolError) {
    if output.place.isStored, output.place.isSame(as: other.place) {
      let isWithMessages =
        output.use.isStream && other.use.isStream
        && output.place.isSame(as: FilePlace(descriptor: STDERR_FILENO))
      if !isWithMessages {
        throw arguments.usage(
          "\(other.shown) cannot be written for two purposes, \(other.role) and \(output.role)")
      }
    }
    try checkIsOutside(output, other)
    try checkIsOutside(other, output)
  }

  private func checkIsOutside(_ made: Named, _ file: Named) throws(ToolError) {
    guard made.use == .directory, let directory = made.place.identity else { return }
    if file.place.directory == directory {
      throw arguments.usage("\(file.shown) cannot be in \(made.shown), which the command makes")
    }
  }

  private func checkIsPage(_ output: Named) throws(ToolError) {
    guard output.place.kind == S_IFREG, output.place.standardStream == nil,
      !FileWriting.isEmpty(output.shown, orBeginsWith: HTMLText.beginning)
    else { return }
    throw arguments.usage(
      "\(output.shown) is not a page of bertqa, so \(output.role) does not replace it: remove it or name another file"
    )
  }

  /// Rejects outputs inside a model: the command reads all of the model's files, even if the argument names
  /// only one.
  private func checkModels(_ table: CommandTable) throws(ToolError) {
    let files = outputs.filter(\.place.isStored)
    guard !files.isEmpty else { return }
    for model in models(table) {
      let parts = ModelChoice.parts(of: model)
      let partFiles = Set(parts.files.compactMap { FileIdentity(path: $0) })
      let partDirectories = Set(parts.directories.compactMap { FileIdentity(path: $0) })
      for output in files {
        let isInIt =
          output.place.identity.map(partFiles.contains)
          ?? (output.use != .directory && ModelChoice.isFileName(output.place.name)
            && output.place.directory.map(partDirectories.contains) == true)
        if isInIt {
          throw arguments.usage(
            "\(output.shown) cannot be both read and written: it is or would be a part of the model in \(model)"
          )
        }
      }
    }
  }

  /// Returns the directories of the models that the command may load.
  private func models(_ table: CommandTable) -> [String] {
    let named = inputs.filter { $0.use == .model }.map { modelPath($0.shown) }
    if named.contains(where: { access($0, F_OK) == 0 }) { return named }
    guard table.rows.contains(where: { $0.use == .model }) else { return [] }
    return (try? installedDefaultModels()) ?? []
  }
}
