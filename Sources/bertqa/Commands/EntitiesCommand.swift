import BertQACore

/// `bertqa entities`.
struct EntitiesCommand: Command {
  static let name = "entities"
  static let summary = "find names and personal data in a text, or remove them"

  static let table = CommandTable(
    usages: ["[OPTION]... [TEXT]...", "[OPTION]... --file FILE..."],
    operands: .texts,
    description: [
      "Print the entities of a text, one per line: text, label, score, and range of bytes, separated by tabs; for what "
        + "a rule found also the rule, the check that its characters passed, and the word before it that identifies it. "
        + "Several TEXTs are joined with spaces; without TEXT and --file, or for '-', the text is standard input."
    ],
    sections: [
      OptionSection(
        "",
        [
          TextSource.row, TextSource.encodingRow, TextSource.forceRow,
          OptionRow(.json, "print one JSON object per line for each text"),
        ]
          + EntitySearch.findingRows + [ModelChoice.row("default: the one installed with bertqa")]
          + ModelChoice.runRows),
      OptionSection("How the model reads a text; lengths are in tokens", EntitySearch.readingRows),
      OptionSection(CallLimits.title, CallLimits.rows("a text")),
    ],
    notes: [
      TextSource.columnNote + " With --redact, --mask, --hash and --pseudonym a text is printed "
        + "unchanged, in its encoding, except for the replacements; a text that is not valid in --encoding is left out."
    ],
    exitCodes:
      "0 something was found, or the text was redacted; 1 nothing was found; 2 wrong usage; 3 a file or the model cannot be read "
      + "or is invalid (other files are still read); 4 out of memory, the output cannot be written, or a defect in the "
      + "program",
    examples: [
      .init(
        "the people and places of a letter", "bertqa entities --labels person,location --file letter.txt"),
      .init(
        "a log without e-mail addresses, card numbers and account numbers",
        "bertqa entities --patterns all --redact < app.log"),
    ])

  private let sources: [TextSource]
  private let model: ModelChoice
  private var search = EntitySearch()
  private let limits: CallLimits
  private let printsJSON: Bool
  private let mapping: ArgumentText?
  private let report: ArgumentText?

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try EntitiesCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    model = try ModelChoice(arguments, task: .entities)
    limits = try CallLimits(arguments)
    printsJSON = arguments.has(.json)
    for given in arguments.options { try search.set(given) }
    try search.checkTogether(arguments)
    mapping = arguments.last(.mapping)?.text
    report = arguments.last(.report)?.text
    sources = try TextSource.all(arguments)
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let context = search.usesModel ? try model.load() : nil
    // Before any text is read: a mistake in the options, or another kind of model, is reported at once.
    try ofCore(Self.invocation) { () throws(BertQAError) in try context?.validate(search.options) }
    var names: MappingFile?
    if let mapping, let pseudonyms = search.pseudonyms { names = try MappingFile(mapping, pseudonyms) }
    var hasFound = false
    var counts = EntityCounts()
    var textCount = 0
    let code = try TextSource.forEach(sources) { source, text throws(ToolError) in
      if search.redacts { try checkEncoding(of: text, source) }
      var search = search
      let progress = Progress(subject: source.shown)
      progress?.follow(&search.options.call)
      limits.limit(&search.options.call)
      defer { progress?.clear() }
      let record = try ofCore(Self.invocation, subject: source.shown) { () throws(BertQAError) in
        let list = try search.results(of: [text.bytes], context)[0].get()
        return EntityRecord(
          source: source, text: text.bytes, list: list,
          redacted: try search.redacted(text.bytes, list.entities))
      }
      progress?.clear()
      try names?.save()
      counts.add(EntityCounts(record.list))
      textCount += 1
      hasFound = hasFound || record.redacted != nil || !record.list.entities.isEmpty
      output.write(
        printsJSON ? record.json() : record.lines(encoding: text.encoding))
      try output.flush()
    }
    if let report { try FileWriting.replace(report.string, with: counts.report(textCount: textCount)) }
    return code == .done && !hasFound ? .noAnswer : code
  }

  /// Refuses a text in whose encoding names would be missed, unless --force is given.
  private func checkEncoding(of text: InputText, _ source: TextSource) throws(ToolError) {
    if let encoding = text.encoding, !text.isDecodable {
      throw .ofOneText("\(source.shown): not valid \(encoding.name)")
    }
    // The mapping is JSON, which has only valid text.
    if !source.reading.isForced || mapping != nil, text.encoding == nil, !text.bytes.isValidUTF8 {
      throw .ofOneText(
        "\(source.shown): not valid UTF-8, so names would be missed: --encoding NAME reads another encoding, "
          + "and --force redacts what can be read")
    }
    let name = source.file.map { Compression.inner($0.string).lowercased() } ?? ""
    if !source.reading.isForced,
      Mailbox.endings.contains(where: name.hasSuffix) || Mailbox.isMail(text.bytes),
      Mailbox.hasEncodedText(text.bytes)
    {
      throw .ofOneText(
        "\(source.shown): is mail with encoded text (base64, quoted-printable or encoded words), in which "
          + "names would be missed: decode it first, or --force redacts what can be read")
    }
  }
}
