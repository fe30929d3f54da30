/// The format of a file of records.
enum RecordFormat: Equatable {
  /// JSON objects, one a line.
  case jsonLines
  case table(TableDialect)
  /// JSON objects, each preceded by its length.
  case lengthPrefixed

  static let names: KeyValuePairs<String, RecordFormat> = [
    "jsonl": .jsonLines, "csv": .table(.csv), "tsv": .table(.tsv), "length-prefixed": .lengthPrefixed,
  ]

  /// The formats that people write by hand.
  static let textNames: KeyValuePairs<String, RecordFormat> = [
    "jsonl": .jsonLines, "csv": .table(.csv), "tsv": .table(.tsv),
  ]

  /// Alternative names.
  static let aliases: KeyValuePairs<String, RecordFormat> = ["ndjson": .jsonLines]

  var isTable: Bool {
    if case .table = self { return true }
    return false
  }

  var isText: Bool {
    if case .lengthPrefixed = self { return false }
    return true
  }

  /// Returns the format that the end of a file's name says, ignoring .gz and .zst; nil for other names.
  static func named(by fileName: String) -> RecordFormat? {
    let name = Compression.inner(fileName).lowercased()
    return [textNames, aliases].joined().first { name.hasSuffix(".\($0.key)") }?.value
  }

  /// Chooses the format of several files that are read as one. Standard input has no name.
  init(of files: [ArgumentText], _ arguments: ParsedArguments) throws(ToolError) {
    let names = files.filter { !$0.isStandardInput }.map(\.string)
    let first = Self.named(by: names.first ?? "") ?? .jsonLines
    for name in names.dropFirst() where Self.named(by: name) ?? .jsonLines != first {
      throw arguments.usage(
        "\(names[0]) and \(name) have names of different formats: choose one with --format")
    }
    self = first
  }

  /// Takes the values of --format and --delimiter; nil if neither is present. A delimiter selects a table and
  /// is an error with other formats.
  /// - Parameter names: the formats that the command accepts.
  init?(_ arguments: ParsedArguments, among names: KeyValuePairs<String, RecordFormat>) throws(ToolError) {
    let format = try arguments.last(.format)?.choice(from: names, aliases: Self.aliases)
    guard let given = arguments.last(.delimiter) else {
      guard let format else { return nil }
      self = format
      return
    }
    let delimiter = try given.delimiter()
    switch format {
    case nil, .table(.csv)?: self = .table(TableDialect(delimiter: delimiter, hasQuotes: true))
    default: throw arguments.usage("--delimiter needs --format csv")
    }
  }

  /// - Parameter names: the formats that the command accepts.
  static func rows(_ names: KeyValuePairs<String, RecordFormat>) -> [OptionRow] {
    [
      OptionRow(
        .format, value: "FORMAT", choices: names.map(\.key),
        "jsonl: one JSON object per line; csv or tsv: a table whose first line names the columns; "
          + (names.contains { $0.key == "length-prefixed" }
            ? "length-prefixed: JSON objects, each after its length as 4 big-endian bytes; " : "")
          + "default: by the file's name, or jsonl",
        detail:
          "ndjson is another name for jsonl. A .gz or .zst at the end of a file's name is ignored. Fields of a csv table "
          + "may be in double quotes and then contain delimiters, quotes or line ends; in a tsv table each line "
          + "is a row, and quotes are text."),
      OptionRow(
        .delimiter, value: "C", "delimiter of csv; \\t: tab",
        detail: "An ASCII character. Only for --format csv."),
      OptionRow(
        .encoding, value: "NAME",
        "the encoding of the input; default: UTF-8, or UTF-16 with a byte order mark",
        detail: "\(TextEncoding.help) A record that is not valid in it fails."),
    ]
  }
}

/// The syntax of a table's rows.
struct TableDialect: Equatable {
  let delimiter: UInt8
  /// True if fields may be quoted as in CSV (RFC 4180): quoted fields may contain delimiters and line ends,
  /// and a doubled quote is one quote. Otherwise every line is a row and quotes are text.
  let hasQuotes: Bool

  static let csv = TableDialect(delimiter: UInt8(ascii: ","), hasQuotes: true)
  static let tsv = TableDialect(delimiter: UInt8(ascii: "\t"), hasQuotes: false)

  /// True if the byte ends a field or a row.
  func isSeparator(_ byte: UInt8) -> Bool {
    byte == delimiter || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  /// True if a field with this byte needs quotes.
  func needsQuotes(_ byte: UInt8) -> Bool { isSeparator(byte) || byte == UInt8(ascii: "\"") }

  /// Returns the text as spelled inside quotes; in dialects without quotes, a space replaces each separator.
  func spelled(_ text: some Sequence<UInt8>) -> [UInt8] {
    guard hasQuotes else { return text.map { isSeparator($0) ? UInt8(ascii: " ") : $0 } }
    return text.flatMap { $0 == UInt8(ascii: "\"") ? [$0, $0] : [$0] }
  }
}

/// The parameters for reading and writing records.
struct RecordForm {
  let format: RecordFormat
  let fields: RecordFields
  /// The names of the columns that are added to a table.
  var newNames: [[UInt8]] = []
  /// True if records in UTF-8 must be valid. Records in other encodings must always be valid.
  var isChecked = false

  func makeFramer(limit: Int) -> PartFramer {
    switch format {
    case .jsonLines: PartFramer(LineFramer(), limit: limit)
    case .table(let dialect): PartFramer(RowFramer(dialect), limit: limit)
    case .lengthPrefixed: PartFramer(LengthFramer(), limit: limit)
    }
  }

  func makeScanner() -> any RecordScanner {
    switch format {
    case .jsonLines, .lengthPrefixed: JSONRecordScanner(fields)
    case .table(let dialect): TableRecordScanner(fields, newNames: newNames, dialect: dialect)
    }
  }

  func makeWriter() -> any RecordWriter {
    switch format {
    case .jsonLines:
      JSONRecordWriter(output: fields.output, isLengthPrefixed: false, keepsRecord: !fields.isTextReplaced)
    case .lengthPrefixed:
      JSONRecordWriter(output: fields.output, isLengthPrefixed: true, keepsRecord: !fields.isTextReplaced)
    case .table(let dialect):
      TableRecordWriter(newNames: newNames, dialect: dialect, replacesText: fields.isTextReplaced)
    }
  }
}
