import Glibc

/// The source of a text: the command's operands, a file, or standard input.
struct TextSource {
  /// nil for the operands.
  let file: ArgumentText?
  /// The line number in the file, from 1; nil if the whole file is one text.
  private(set) var line: Int?
  private var operands: [ArgumentText] = []
  private(set) var reading = InputText.Reading()
  /// True if the text of a page, mail or Markdown is read, false if every file is read as it is.
  private var isDocument = false
  /// True if the command reads several files.
  private var isOneOfSeveral = false

  init(file: ArgumentText, _ reading: InputText.Reading, isDocument: Bool = false) {
    self.file = file
    self.reading = reading
    self.isDocument = isDocument
  }

  private init(operands: [ArgumentText]) {
    file = nil
    self.operands = operands
  }

  /// Applies the rule of all commands that work on texts: the operands, joined with spaces, are one text;
  /// each --file is one text. Standard input is a text if there is neither, or for "-".
  /// - Parameters:
  ///   - isForced: true reads files that do not look like text; nil follows --force.
  ///   - areDocuments: true reads the text of pages, mail and Markdown.
  static func all(
    _ arguments: ParsedArguments, isForced: Bool? = nil, areDocuments: Bool = false
  ) throws(ToolError) -> [TextSource] {
    var reading = try InputText.Reading(arguments)
    reading.isForced = isForced ?? reading.isForced
    let files = files(arguments, reading, areDocuments: areDocuments)
    let operands = arguments.operands
    let standardInput = TextSource(file: .standardInput, reading, isDocument: areDocuments)
    if operands.isEmpty { return files.isEmpty ? [standardInput] : files }
    if !files.isEmpty { throw arguments.usage("give either a text or --file") }
    if operands.count == 1 {
      if operands[0].isStandardInput { return [standardInput] }
      warnIfFile(operands[0])
    }
    for option in [Option.encoding, .force] where arguments.has(option) {
      throw arguments.usage("\(option.spelling) is for files, not for a TEXT")
    }
    return [TextSource(operands: operands)]
  }

  static func files(
    _ arguments: ParsedArguments, _ reading: InputText.Reading, areDocuments: Bool = false
  ) -> [TextSource] {
    let files = arguments.options.filter { $0.option == .file }.compactMap(\.text)
    if areDocuments { MarkdownDocument.tellIfUnsupported(for: files) }
    return files.map { file in
      var source = TextSource(file: file, reading, isDocument: areDocuments)
      source.isOneOfSeveral = files.count > 1
      return source
    }
  }

  static let row = OptionRow(
    .file, letter: "f", value: "FILE", use: .read,
    "read a text from FILE, '-' for standard input; may be given several times")

  static let encodingRow = OptionRow(
    .encoding, value: "NAME",
    "the encoding of the text in a file; default: UTF-8, or UTF-16 with a byte order mark",
    detail: "\(TextEncoding.help) Ranges count in UTF-8, to which the text is converted.")

  static let forceRow = OptionRow(
    .force, "also read files that do not look like text",
    detail:
      "These are binary files, PDF documents, archives, UTF-16 without a byte order mark and Git LFS pointers."
  )

  /// Reads each text. A text that cannot be read or is above a limit is reported and skipped, and the result
  /// becomes `.input`.
  static func forEach(
    _ sources: [TextSource], _ body: (TextSource, InputText) throws(ToolError) -> Void
  ) throws(ToolError) -> ExitCode {
    var code = ExitCode.done
    for source in sources {
      let text: InputText
      do throws(ToolError) {
        text = try source.read()
        if !text.isComplete { code = .input }
      } catch {
        guard error.code == .input else { throw error }
        report(error.message)
        code = .input
        continue
      }
      try reporting(&code) { () throws(ToolError) in
        try withExtendedLifetime(text) { () throws(ToolError) in try body(source, text) }
      }
    }
    return code
  }

  /// Reports an error of `body` that concerns one text only. The code becomes `.input` then.
  static func reporting(
    _ code: inout ExitCode, _ body: () throws(ToolError) -> Void
  ) throws(ToolError) {
    do throws(ToolError) {
      try body()
    } catch {
      guard error.isOfOneText else { throw error }
      report(error.message)
      code = .input
    }
  }

  func read() throws(ToolError) -> InputText {
    guard let file else { return try InputText(joining: operands) }
    return isDocument ? try DocumentFile(file).text(reading) : try InputText(file, reading)
  }

  /// Returns each line of the source's text as a source of its own.
  func lines(of input: InputText) -> [(source: TextSource, text: UnsafeBufferPointer<UInt8>)] {
    input.lines.enumerated().map { index, text in
      var line = self
      line.line = index + 1
      return (line, text)
    }
  }

  /// In help texts: what `column` is.
  static let columnNote = "With several files, each line begins with the file and a tab."

  /// The beginning of an output line: the file and a tab if the command reads several files, else nothing.
  var column: [UInt8] {
    guard isOneOfSeveral, let file else { return [] }
    var column: [UInt8] = []
    PlainText.append(file.bytes, to: &column)
    return column + "\t".utf8
  }

  /// The name in messages.
  var shown: String {
    let name = file?.string ?? "text"
    return line.map { "\(name): line \($0)" } ?? name
  }

  /// Writes "file" (null for operands) and, if the text is a line, "line".
  func writeMembers(to writer: inout JSONWriter) {
    writer.optional("file", file?.bytes)
    if let line {
      writer.integer("line", line)
    }
  }

  /// Warns if an operand is also the name of a file, as the user may have meant the file.
  private static func warnIfFile(_ operand: ArgumentText) {
    var status = stat()
    let looksLikeFile = operand.bytes.contains(UInt8(ascii: ".")) || operand.bytes.contains(UInt8(ascii: "/"))
    guard looksLikeFile, stat(operand.pointer, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return
    }
    report("note: '\(operand.string)' is taken as a text; --file \(operand.string) reads the file")
  }
}
