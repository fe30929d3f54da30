import BertQACore
import Glibc

/// Reads files as documents: texts, pages, mail, records, and what converters print.
struct SourceReading {
  private let command: String
  private let encoding: TextEncoding?
  private let format: RecordFormat?
  private let textField: ParsedOption?
  private let textFormat: TextFormat
  private let idField: ParsedOption?
  private let titleField: ParsedOption?
  private let storedFields: [ParsedOption]
  /// By ending of a file's name, such as ".pdf": a shell command in which {} is the file.
  private let converters: [(ending: String, command: String)]

  /// What the text of a record is.
  private enum TextFormat: String, CaseIterable {
    case text, html, markdown
  }

  /// Larger records are not read.
  private static let largestRecord = 64 << 20

  static let rows = [
    OptionRow(
      .textField, value: "FIELD", "field of a record's text; default text",
      detail: "JSON lines, CSV and TSV have records; each is a document."),
    OptionRow(
      .textFormat, value: "F", choices: TextFormat.allCases.map(\.rawValue),
      "what a record's text is: {}; default text",
      detail: "The text of HTML and Markdown is read as that of such files."),
    OptionRow(.idField, value: "FIELD", "field of a record's name; default: the number of its line"),
    OptionRow(
      .titleField, value: "FIELD", "field of a record's title; default: none",
      detail: "A record may lack it."),
    OptionRow(
      .field, value: "FIELD", "store this field of records, too; may be given several times",
      detail: "'bertqa search --field' chooses documents by it. A record may lack it."),
    OptionRow(
      .convert, value: "END=COMMAND",
      "read files whose names end in END through a shell command; may be given several times",
      detail:
        "For example '.pdf=pdftotext {} -': {} stands for the quoted name of the file, and the command prints the text. A "
        + "command that fails makes only that file fail."),
  ]

  init(_ arguments: ParsedArguments) throws(ToolError) {
    command = arguments.command
    encoding = try TextEncoding.given(arguments)
    format = try RecordFormat(arguments, among: RecordFormat.textNames)
    textField = arguments.last(.textField)
    textFormat = try arguments.last(.textFormat)?.choice() ?? .text
    idField = arguments.last(.idField)
    titleField = arguments.last(.titleField)
    storedFields = arguments.options.filter { $0.option == .field }
    var converters: [(ending: String, command: String)] = []
    for given in arguments.options where given.option == .convert {
      let parts = given.string.split(separator: "=" as Character, maxSplits: 1).map { String($0) }
      guard parts.count == 2, !parts[1].isEmpty else {
        throw given.wrong("END=COMMAND, such as \".pdf=pdftotext {} -\"")
      }
      converters.append((parts[0], parts[1]))
    }
    self.converters = converters
  }

  /// Returns a number for the options by which a file's texts are made of its bytes. Those that do not concern it do
  /// not count.
  func settings(for shown: String) -> Int64 {
    let name = Compression.inner(shown).lowercased()
    var meaning = encoding?.name ?? ""
    if let converter = converters.first(where: { shown.hasSuffix($0.ending) }) {
      meaning = converter.command
    } else if let format = format ?? RecordFormat.named(by: name) {
      let fields = ([textField, idField, titleField] + storedFields).map { $0?.string }
      meaning += " \(format) \(fields)"
      if textFormat != .text { meaning += " \(textFormat)" }
      if textFormat == .markdown, MarkdownDocument.isSupported { meaning += " without marks" }
    } else if MarkdownDocument.isMarkdown(name), MarkdownDocument.isSupported {
      meaning += " without marks"
    }
    var hash = ContentHash()
    hash.update(meaning)
    return Int64(bitPattern: hash.value)
  }

  /// A file and how it is read.
  enum Source {
    case converted(ArgumentText, command: String)
    case records(ArgumentText, RecordFormat)
    case document(DocumentFile)
  }

  /// True for Markdown that is read as plain text, because the library for it is not there.
  func isMarkdownWithMarks(_ source: Source) -> Bool {
    if MarkdownDocument.isSupported { return false }
    return switch source {
    case .converted: false
    case .records: textFormat == .markdown
    case .document(let file): file.form == .markdown
    }
  }

  /// Throws `.input` if the size or the first bytes of the file show that it cannot be read.
  func source(_ file: ArgumentText, shown: String) throws(ToolError) -> Source {
    if let converter = converters.first(where: { shown.hasSuffix($0.ending) }) {
      return .converted(file, command: converter.command)
    }
    if let format = format ?? RecordFormat.named(by: shown) {
      return .records(file, format)
    }
    let document = try DocumentFile(file)
    try document.check(textReading)
    return .document(document)
  }

  private var textReading: InputText.Reading {
    var reading = InputText.Reading(encoding: encoding)
    reading.advice = "--exclude leaves it out, --convert reads it"
    return reading
  }

  /// Adds the documents of a file to a collection. Throws `.input` if it cannot be read.
  /// - Parameters:
  ///   - writer: nil: only looks for problems.
  ///   - problem: called for a record that cannot be read.
  func read(
    _ source: Source, to writer: CollectionWriter?, problem: (String) -> Void
  ) throws(ToolError) {
    switch source {
    case .converted(let file, let command): try readOutput(of: command, file, to: writer)
    case .records(let file, let format): try readRecords(file, format, to: writer, problem: problem)
    case .document(let file): try read(file, to: writer, problem: problem)
    }
  }

  private func read(
    _ file: DocumentFile, to writer: CollectionWriter?, problem: (String) -> Void
  ) throws(ToolError) {
    switch file.form {
    case .page:
      let page = try file.page(textReading)
      try page.text.withElements { text throws(ToolError) in
        try writer?.add(text, title: page.title, hasLines: false)
      }
    case .mail:
      let mailbox = try file.mailbox()
      while let message = try mailbox.next(problem) {
        try message.text.withElements { text throws(ToolError) in
          try writer?.add(
            text, name: message.number.map { Array("\($0)".utf8) }, title: message.subject,
            fields: message.fields, hasLines: false)
        }
      }
    case .markdown, .text:
      let text = try file.text(textReading)
      guard text.isDecodable, text.bytes.isValidUTF8 else {
        throw ToolError(.input, "\(file.input.shown): \(text.encoding.flaw)")
      }
      defer { withExtendedLifetime(text) {} }
      let title = DocumentTitle(text.bytes, named: file.name)
      try writer?.add(text.bytes, title: title.bytes, hasLines: text.hasLines)
    }
  }

  // MARK: - Records

  private func readRecords(
    _ file: ArgumentText, _ format: RecordFormat, to writer: CollectionWriter?, problem: (String) -> Void
  ) throws(ToolError) {
    let form = try form(format)
    let reader = try RecordReader(
      WholeFile(file, encoding), form, RecordReader.Limits(recordBytes: Self.largestRecord))
    while let block = try reader.next() {
      for record in block.records {
        switch record.kind {
        case .data: break
        case .part(isFirst: true, isLast: _):
          problem("line \(record.number): the record has more than \(Self.largestRecord) bytes")
          continue
        default: continue
        }
        if let flaw = record.problem {
          problem("line \(record.number): \(flaw.message)")
          continue
        }
        // In the order of `form`.
        let texts = block.fields[record.firstField...].prefix(form.fields.texts.count)
        var fields = texts.map(block.text)[...]
        let text = fields.removeFirst()
        let name = idField == nil ? Array("\(record.number)".utf8) : Array(fields.removeFirst())
        let title = titleField == nil ? [] : Array(fields.removeFirst())
        if let idField, name.isEmpty {
          problem("line \(record.number): the field '\(idField.string)' is empty")
          continue
        }
        if record.hasNoText { continue }
        let storedFields = stored(fields)
        try withText(of: text) { text throws(ToolError) in
          try writer?.add(text, name: name, title: title, fields: storedFields, hasLines: false)
        }
      }
    }
  }

  /// Calls the body with the text of a record's text.
  private func withText(
    of field: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) throws(ToolError) -> Void
  ) throws(ToolError) {
    switch textFormat {
    case .html: try HTMLDocument(field, isUTF8: true).text.withElements(body)
    case .markdown where MarkdownDocument.isSupported: try MarkdownDocument(field).text.withElements(body)
    case .text, .markdown: try body(field)
    }
  }

  /// Returns the values of the stored fields that a record has as an object of JSON; nil for none.
  private func stored(_ values: ArraySlice<UnsafeBufferPointer<UInt8>>) -> [UInt8]? {
    if values.allSatisfy(\.isEmpty) { return nil }
    var writer = JSONWriter()
    writer.object { writer in
      for (field, value) in zip(storedFields, values) where !value.isEmpty {
        writer.string(field.string, value)
      }
    }
    return writer.bytes
  }

  private func form(_ format: RecordFormat) throws(ToolError) -> RecordForm {
    var texts = [try FieldPath(textField, otherwise: "text", isColumn: format.isTable)]
    if let idField { texts.append(try FieldPath(idField, isColumn: format.isTable)) }
    let requiredCount = texts.count
    for field in [titleField].compactMap({ $0 }) + storedFields {
      texts.append(try FieldPath(field, isColumn: format.isTable))
    }
    return RecordForm(
      format: format,
      fields: RecordFields(
        texts: texts, stringCount: 1, requiredCount: requiredCount,
        output: FieldPath(member: Array("bertqa".utf8)),
        maximumTextBytes: InputText.limit, nullText: .skip), isChecked: true)
  }

  // MARK: - Converters

  /// Adds what a command prints about a file.
  private func readOutput(
    of command: String, _ file: ArgumentText, to writer: CollectionWriter?
  ) throws(ToolError) {
    let output = try Self.output(of: command, file)
    if case .noText(let kind) = TextForm(output.bytes) {
      throw ToolError(.input, "'\(command)' printed what looks like \(kind)")
    }
    guard output.bytes.isValidUTF8 else {
      throw ToolError(.input, "'\(command)' printed text that is not valid UTF-8")
    }
    try writer?.add(output.bytes, hasLines: false)
    withExtendedLifetime(output) {}
  }

  private static func output(of command: String, _ file: ArgumentText) throws(ToolError) -> ByteBuffer {
    let quoted = "'\(PlainText.replacing("'", in: file.string, by: "'\\''"))'"
    let line = command.split(separator: "{}", omittingEmptySubsequences: false).joined(separator: quoted)
    // A command that reads its standard input would wait for it, or take what '-' is to read.
    guard let pipe = popen("exec </dev/null\n\(line)", "re") else {
      throw ToolError.system("cannot start '\(command)'", errno)
    }
    let text = ByteBuffer()
    let status: Int32
    do throws(ToolError) {
      while text.count <= InputText.limit {
        let count = try text.fill(atMost: 1 << 16) { fread($0.baseAddress, 1, $0.count, pipe) }
        if count == 0 { break }
      }
      status = pclose(pipe)
    } catch {
      pclose(pipe)
      throw error
    }
    guard text.count <= InputText.limit else {
      throw ToolError(
        .input, "'\(command)' printed more than \(InputText.limit) bytes, the most that a text may have")
    }
    guard status == 0 else {
      let code = status & 0x7F == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
      throw ToolError(.input, "'\(command)' failed: \(code)")
    }
    return text
  }
}
