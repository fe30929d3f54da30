/// How the input, and so the output, holds records.
enum FilterFormat {
  /// JSON objects, each on a line.
  case lines
  case table(TableDialect)
  /// JSON objects, each behind its length.
  case lengthPrefixed

  var isTable: Bool {
    if case .table = self { return true }
    return false
  }

  var isText: Bool {
    if case .lengthPrefixed = self { return false }
    return true
  }
}

/// What reads and writes the records of a run.
struct RecordForm {
  let format: FilterFormat
  let fields: RecordFields
  /// Names of the columns that a table gets.
  let newNames: [[UInt8]]

  func makeFramer() -> any RecordFramer {
    switch format {
    case .lines: LineFramer()
    case .table(let dialect): dialect.hasQuotes ? CSVFramer(delimiter: dialect.delimiter) : LineFramer()
    case .lengthPrefixed: LengthFramer()
    }
  }

  func makeScanner() -> any RecordScanner {
    switch format {
    case .lines, .lengthPrefixed: JSONRecordScanner(fields)
    case .table(let dialect): TableRecordScanner(fields, newNames: newNames, dialect: dialect)
    }
  }

  func makeWriter() -> any RecordWriter {
    switch format {
    case .lines: JSONRecordWriter(output: fields.output, isLengthPrefixed: false)
    case .lengthPrefixed: JSONRecordWriter(output: fields.output, isLengthPrefixed: true)
    case .table(let dialect): TableRecordWriter(newNames: newNames, dialect: dialect)
    }
  }
}
