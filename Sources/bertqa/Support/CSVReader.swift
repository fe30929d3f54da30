/// Splits comma-separated values (RFC 4180) that arrive in pieces into records.
///
/// Fields may stand in double quotes, with delimiters, line ends and doubled quotes inside. Records end with
/// LF or CR LF; the last one's line end may be missing. A quote inside an unquoted field is text. A byte
/// order mark before the first field is no part of it.
struct CSVReader {
  struct Record {
    /// The fields' values, without quotes.
    var fields: [[UInt8]] = []
    /// The record as it stands in the file, its line end included.
    var bytes: [UInt8] = []
    /// The line of the file on which it starts, 1 for the first.
    var line = 1

    /// Whether it is an empty line, which is no record to most readers.
    var isBlank: Bool {
      fields.count == 1 && fields[0].isEmpty && !bytes.contains(UInt8(ascii: "\""))
    }
  }

  private enum State {
    case byteOrderMark, fieldStart, unquoted, quoted, afterQuote, afterQuoteAndReturn
  }

  /// The most bytes of a record: as many as a text may have.
  private static let limit = Int(Int32.max)
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private let delimiter: UInt8
  private var state = State.byteOrderMark
  /// What was fed and is not read yet: from `position` on.
  private var buffer: [UInt8] = []
  private var position = 0
  private var line = 1
  private var record = Record()
  private var field: [UInt8] = []

  init(delimiter: UInt8 = UInt8(ascii: ",")) {
    self.delimiter = delimiter
  }

  /// Takes the next piece of the file.
  mutating func feed(_ bytes: some Sequence<UInt8>) {
    buffer.removeSubrange(..<position)
    position = 0
    buffer.append(contentsOf: bytes)
  }

  /// The next record that is complete in what was fed; nil: feed more, or `finish`.
  mutating func next() throws(ToolError) -> Record? {
    if state == .byteOrderMark {
      guard buffer.count >= Self.byteOrderMark.count else { return nil }
      skipByteOrderMark()
    }
    while position < buffer.count {
      takeRun()
      guard position < buffer.count else { break }
      if try take(buffer[position]) { return takeRecord() }
      guard record.bytes.count <= Self.limit else {
        throw ToolError(.input, "line \(record.line): a record has more than \(Self.limit) bytes")
      }
    }
    return nil
  }

  /// The last record, if its line end is missing; to be called once, when `next` gives nil and the file is
  /// over.
  mutating func finish() throws(ToolError) -> Record? {
    if state == .byteOrderMark {
      skipByteOrderMark()
      if let record = try next() { return record }
    }
    guard state != .quoted else {
      throw ToolError(.input, "line \(record.line): a field's closing quote is missing")
    }
    guard !record.bytes.isEmpty else { return nil }
    endField()
    return takeRecord()
  }

  private mutating func skipByteOrderMark() {
    if buffer.starts(with: Self.byteOrderMark) {
      record.bytes = Self.byteOrderMark
      position = Self.byteOrderMark.count
    }
    state = .fieldStart
  }

  /// Takes the bytes up to the next that means something in the state.
  private mutating func takeRun() {
    let start = position
    switch state {
    case .unquoted:
      while position < buffer.count, buffer[position] != delimiter, buffer[position] != UInt8(ascii: "\n") {
        position += 1
      }
    case .quoted:
      while position < buffer.count, buffer[position] != UInt8(ascii: "\"") {
        if buffer[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
      }
    default: return
    }
    field += buffer[start..<position]
    record.bytes += buffer[start..<position]
  }

  /// Takes one byte. Whether it ends the record.
  private mutating func take(_ byte: UInt8) throws(ToolError) -> Bool {
    position += 1
    record.bytes.append(byte)
    switch (state, byte) {
    case (.fieldStart, UInt8(ascii: "\"")), (.quoted, UInt8(ascii: "\"")):
      state = state == .quoted ? .afterQuote : .quoted
    case (.afterQuote, UInt8(ascii: "\"")):
      field.append(byte)
      state = .quoted
    case (.afterQuote, UInt8(ascii: "\r")):
      state = .afterQuoteAndReturn
    case (_, UInt8(ascii: "\n")):
      line += 1
      // The CR of a CR LF.
      if state == .unquoted, field.last == UInt8(ascii: "\r") { field.removeLast() }
      endField()
      return true
    case (.fieldStart, delimiter), (.unquoted, delimiter), (.afterQuote, delimiter):
      endField()
    case (.fieldStart, _):
      field.append(byte)
      state = .unquoted
    default:
      throw ToolError(.input, "line \(line): text follows the closing quote of a field")
    }
    return false
  }

  private mutating func endField() {
    record.fields.append(field)
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private mutating func takeRecord() -> Record {
    let complete = record
    record = Record(line: line)
    return complete
  }
}
