/// Writes the columns of one result, each preceded by the delimiter.
struct CellWriter: ValueWriter {
  let dialect: TableDialect
  private(set) var bytes: [UInt8] = []

  init(dialect: TableDialect) { self.dialect = dialect }

  mutating func null() { bytes.append(dialect.delimiter) }
  mutating func integer(_ value: Int) { string("\(value)".utf8) }
  mutating func boolean(_ value: Bool) { string((value ? "true" : "false").utf8) }

  /// Writes the shortest decimal that reads back as the same number, or nothing if the value is not finite.
  mutating func number(_ value: Float) { string((value.isFinite ? value.description : "").utf8) }

  mutating func string(_ text: some Collection<UInt8>) {
    bytes.append(dialect.delimiter)
    guard text.contains(where: dialect.needsQuotes) else {
      bytes += text
      return
    }
    if dialect.hasQuotes { bytes.append(UInt8(ascii: "\"")) }
    bytes += dialect.spelled(text)
    if dialect.hasQuotes { bytes.append(UInt8(ascii: "\"")) }
  }

  /// Writes a cell that is already spelled.
  mutating func spelled(_ cell: [UInt8]) {
    bytes.append(dialect.delimiter)
    bytes += cell
  }

  /// Writes the items separated by spaces.
  mutating func list(_ items: some Sequence<some CustomStringConvertible>) {
    string(items.map(\.description).joined(separator: " ").utf8)
  }

  /// Writes JSON as a text cell.
  mutating func json(_ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    body(&writer)
    string(writer.take())
  }
}
