import BertQACore
import Glibc

/// `bertqa restore`.
struct RestoreCommand: Command {
  static let name = "restore"
  static let summary = "put back what pseudonyms replaced"

  static let table = CommandTable(
    usages: ["--mapping FILE [OPTION]... [FILE|-]..."],
    operands: .files,
    description: [
      "Print each FILE, or standard input, with the names that 'bertqa filter' or 'bertqa entities' with --pseudonym and "
        + "--mapping wrote, such as [PER_3], replaced by the texts that they stand for. All other bytes do not change."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(.mapping, value: "FILE", use: .read, "the file that --mapping wrote"),
          OptionRow(
            .format, value: "FORMAT", choices: Form.allCases.map(\.rawValue),
            "how the texts are spelled: {}; default: by the file's name, or text",
            detail: "In jsonl quotes and line ends become escapes, in csv fields that need quotes get them."),
          OptionRow(.delimiter, value: "C", "delimiter of csv; \\t: tab"),
          OptionRow(
            .encoding, value: "NAME",
            "the encoding of the texts, which stays; default: UTF-8, or UTF-16 with a byte order mark",
            detail: TextEncoding.help),
        ])
    ],
    exitCodes:
      "0 done; 2 wrong usage; 3 a file cannot be read or FILE is not a mapping; 4 out of memory, the output cannot be "
      + "written, or a defect in the program",
    examples: [
      .init("the original texts of a filter's output", "bertqa restore --mapping names.jsonl out.jsonl"),
      .init(
        "an answer about a text that was shared without its names",
        "bertqa restore --mapping names.jsonl < reply.txt"),
    ])

  private enum Form: String, CaseIterable {
    case text, jsonl, csv, tsv
  }

  private let names = Pseudonyms()
  /// nil for the formats that the files' names tell.
  private let form: Form?
  private let delimiter: UInt8?
  private let encoding: TextEncoding?

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    let command = try RestoreCommand(arguments)
    guard let mapping = arguments.last(.mapping)?.text else {
      throw arguments.usage("restore needs --mapping FILE")
    }
    let input = try Input(mapping)
    try MappingLines.read(shown: input.shown, into: command.names) { room throws(ToolError) in
      try input.read(into: room)
    }
    for file in arguments.operands.isEmpty ? [.standardInput] : arguments.operands {
      try command.restore(file, to: output)
    }
    return .done
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    form = try arguments.last(.format)?.choice(
      from: Form.allCases.map { (key: $0.rawValue, value: $0) }, aliases: ["ndjson": .jsonl])
    delimiter = try arguments.last(.delimiter)?.delimiter()
    encoding = try TextEncoding.given(arguments)
    if delimiter != nil, form ?? .csv != .csv { throw arguments.usage("--delimiter needs --format csv") }
  }

  private func restore(_ file: ArgumentText, to output: Output) throws(ToolError) {
    let format = format(of: file)
    let input = try Input(file)
    try input.begin(Input.Reading(encoding: encoding))
    var encoder: TextEncoder?
    var framer: any RecordFramer = LineFramer()
    if case .table(let dialect) = format { framer = RowFramer(dialect) }
    let buffer = ByteBuffer()
    var isEnd = false
    while !isEnd {
      isEnd = try buffer.fill(atMost: 1 << 16, input.read) == 0
      if encoder == nil { encoder = input.encoding.map { TextEncoder($0) } }
      var start = 0
      while start < buffer.count {
        guard
          let frame = framer.frame(in: buffer.bytes, from: start, isEnd: isEnd)
            ?? (isEnd ? framer.lastFrame(in: buffer.bytes, from: start) : nil)
        else { break }
        let restored = try restored(frame, of: buffer.bytes, format)
        output.write(encoder?.encode(restored) ?? restored)
        try output.flushIfLarge()
        start = max(start + 1, frame.raw.upperBound)
      }
      // An incomplete record keeps its place, so that a long one is not copied for each part.
      buffer.removeFirst(min(start, buffer.count))
      if buffer.count > InputText.limit { throw InputText.tooLarge("\(input.shown): a line") }
    }
    try output.flush()
  }

  /// Returns nil for plain text.
  private func format(of file: ArgumentText) -> RecordFormat? {
    if let delimiter { return .table(TableDialect(delimiter: delimiter, hasQuotes: true)) }
    guard let form else { return .named(by: file.shownAsFile) }
    return RecordFormat.textNames.first { $0.key == form.rawValue }?.value
  }

  private func restored(
    _ frame: RecordFrame, of bytes: UnsafeBufferPointer<UInt8>, _ format: RecordFormat?
  ) throws(ToolError) -> [UInt8] {
    guard case .table(let dialect) = format else {
      let raw = UnsafeBufferPointer(rebasing: bytes[frame.raw])
      return try restored(raw, spelling: format == nil ? nil : { JSONWriter.spelled($0) })
    }
    var row: [UInt8] = []
    var position = frame.raw.lowerBound
    var walker = RowWalker(bytes, frame.content, dialect)
    while let cell = walker.next() {
      row += bytes[position..<cell.raw.lowerBound]
      position = cell.raw.upperBound
      row += try restoredCell(UnsafeBufferPointer(rebasing: bytes[cell.raw]), dialect)
    }
    return row + bytes[position..<frame.raw.upperBound]
  }

  private func restoredCell(
    _ cell: UnsafeBufferPointer<UInt8>, _ dialect: TableDialect
  ) throws(ToolError) -> [UInt8] {
    let isQuoted = dialect.hasQuotes && cell.count >= 2 && cell.first == UInt8(ascii: "\"")
    let result = try restored(cell, spelling: isQuoted || !dialect.hasQuotes ? { dialect.spelled($0) } : nil)
    if isQuoted || !dialect.hasQuotes || result.elementsEqual(cell)
      || !result.contains(where: dialect.needsQuotes)
    {
      return result
    }
    return [UInt8(ascii: "\"")] + dialect.spelled(result) + [UInt8(ascii: "\"")]
  }

  private func restored(
    _ text: UnsafeBufferPointer<UInt8>, spelling: (([UInt8]) -> [UInt8])?
  ) throws(ToolError) -> [UInt8] {
    try ofCore(Self.invocation) { () throws(BertQAError) in try names.restore(text, spelling: spelling) }
  }
}
