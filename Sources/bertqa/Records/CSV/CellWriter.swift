/// Writes the columns of one result, each with the delimiter before it.
struct CellWriter: ValueWriter {
  let dialect: TableDialect
  private(set) var bytes: [UInt8] = []

  init(dialect: TableDialect) { self.dialect = dialect }

  mutating func null() { bytes.append(dialect.delimiter) }
  mutating func integer(_ value: Int) { string("\(value)".utf8) }
  mutating func boolean(_ value: Bool) { string((value ? "true" : "false").utf8) }

  /// The shortest decimal that reads back as the same number; empty for what is not a finite number.
  mutating func number(_ value: Float) { string((value.isFinite ? value.description : "").utf8) }

  /// Each invalid sequence of UTF-8 becomes U+FFFD. Without quotes to hold them, white space and control
  /// characters become one space.
  mutating func string(_ text: some Collection<UInt8>) {
    bytes.append(dialect.delimiter)
    guard dialect.hasQuotes else { return PlainText.append(text, to: &bytes) }
    let valid = Array(String(decoding: text, as: UTF8.self).utf8)
    let quote = UInt8(ascii: "\"")
    guard valid.contains(where: { $0 == quote || $0 == dialect.delimiter || $0 == 0x0A || $0 == 0x0D }) else {
      bytes += valid
      return
    }
    bytes.append(quote)
    for byte in valid {
      if byte == quote { bytes.append(quote) }
      bytes.append(byte)
    }
    bytes.append(quote)
  }

  /// With spaces between them.
  mutating func list(_ items: some Sequence<some CustomStringConvertible>) {
    string(items.map(\.description).joined(separator: " ").utf8)
  }

  /// As a text.
  mutating func json(_ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    body(&writer)
    string(writer.take())
  }
}
