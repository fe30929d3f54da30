/// Splits rows into fields.
struct RowSplitter {
  struct Field {
    var range: Range<Int>
    /// Whether the range begins with a quote and has to be decoded, rather than being the text itself.
    var isQuoted: Bool
  }

  let dialect: TableDialect
  private(set) var fields: [Field] = []

  init(dialect: TableDialect) { self.dialect = dialect }

  /// Splits the row in `range` of `bytes`; a row without bytes has one empty field.
  mutating func split(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    fields.removeAll(keepingCapacity: true)
    var start = range.lowerBound
    while true {
      let end = fieldEnd(bytes, start..<range.upperBound)
      fields.append(field(bytes, start..<end))
      guard end < range.upperBound else { return }
      start = end + 1
    }
  }

  /// The delimiter behind the field that begins the range, or the range's end.
  private func fieldEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int {
    var position = range.lowerBound
    if dialect.hasQuotes, position < range.upperBound, bytes[position] == UInt8(ascii: "\"") {
      var isInside = true
      position += 1
      while position < range.upperBound {
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
    while position < range.upperBound, bytes[position] != dialect.delimiter { position += 1 }
    return position
  }

  private func field(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Field {
    guard dialect.hasQuotes, range.count >= 2, bytes[range.lowerBound] == UInt8(ascii: "\"") else {
      return Field(range: range, isQuoted: false)
    }
    let inside = range.dropFirst().dropLast()
    let isSimple =
      bytes[range.upperBound - 1] == UInt8(ascii: "\"") && !bytes[inside].contains(UInt8(ascii: "\""))
    return isSimple ? Field(range: inside, isQuoted: false) : Field(range: range, isQuoted: true)
  }

  /// Appends the text of a field that begins with a quote.
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
