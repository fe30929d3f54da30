/// Iterates over the fields of a row.
struct RowWalker {
  struct Field {
    var range: Range<Int>
    /// True if the range begins with a quote and must be decoded; otherwise the range is the text.
    var isQuoted: Bool
    /// The field's bytes, with the quotes.
    var raw: Range<Int>
  }

  private let dialect: TableDialect
  private let bytes: UnsafeBufferPointer<UInt8>
  private let end: Int
  /// The start of the next field; nil after the last field.
  private var start: Int?

  /// Walks the row in `range` of `bytes`. A row without bytes has one empty field.
  init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ dialect: TableDialect) {
    self.bytes = bytes
    self.dialect = dialect
    end = range.upperBound
    start = range.lowerBound
  }

  mutating func next() -> Field? {
    guard let start else { return nil }
    let fieldEnd = fieldEnd(start)
    self.start = fieldEnd < end ? fieldEnd + 1 : nil
    return field(start..<fieldEnd)
  }

  /// Returns the position of the delimiter after the field that begins at `start`, or the end of the row.
  private func fieldEnd(_ start: Int) -> Int {
    var position = start
    if dialect.hasQuotes, position < end, bytes[position] == UInt8(ascii: "\"") {
      var isInside = true
      position += 1
      while position < end {
        let isQuote = bytes[position] == UInt8(ascii: "\"")
        if isInside {
          if isQuote { isInside = false }
        } else {
          guard isQuote else { break }
          isInside = true
        }
        position += 1
      }
    }
    while position < end, bytes[position] != dialect.delimiter { position += 1 }
    return position
  }

  private func field(_ range: Range<Int>) -> Field {
    guard dialect.hasQuotes, range.count >= 2, bytes[range.lowerBound] == UInt8(ascii: "\"") else {
      return Field(range: range, isQuoted: false, raw: range)
    }
    let inside = range.dropFirst().dropLast()
    let isSimple =
      bytes[range.upperBound - 1] == UInt8(ascii: "\"") && !bytes[inside].contains(UInt8(ascii: "\""))
    return isSimple
      ? Field(range: inside, isQuoted: false, raw: range) : Field(range: range, isQuoted: true, raw: range)
  }

  /// Appends the text of a quoted field.
  static func decode(_ quoted: UnsafeBufferPointer<UInt8>, into buffer: ByteBuffer) throws(ToolError) {
    try buffer.reserve(quoted.count)
    let room = buffer.room
    var count = 0
    var isInside = true
    var position = 1
    while position < quoted.count {
      let byte = quoted[position]
      position += 1
      if isInside, byte == UInt8(ascii: "\"") {
        guard position < quoted.count, quoted[position] == byte else {
          isInside = false
          continue
        }
        position += 1
      }
      room[count] = byte
      count += 1
    }
    buffer.extend(by: count)
  }
}
