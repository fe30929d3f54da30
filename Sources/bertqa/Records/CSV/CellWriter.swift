import BertQACore

/// Writes the columns of one result, each preceded by the delimiter.
struct CellWriter: ValueWriter {
  let dialect: TableDialect
  private var output: ResultBytes

  var bytes: [UInt8] { output.bytes }
  var failure: BertQAError? { output.failure }

  /// - Parameter monitor: that of the call whose result is written.
  init(dialect: TableDialect, _ monitor: CallMonitor? = nil) {
    self.dialect = dialect
    output = ResultBytes(monitor)
  }

  mutating func null() { if output.hasRoom(for: 1) { output.append(dialect.delimiter) } }
  mutating func integer(_ value: Int) { string("\(value)".utf8) }
  mutating func boolean(_ value: Bool) { string((value ? "true" : "false").utf8) }

  /// Writes the shortest decimal that reads back as the same number, or nothing if the value is not finite.
  mutating func number(_ value: Float) { string((value.isFinite ? value.description : "").utf8) }

  mutating func string(_ text: some Collection<UInt8>) {
    // A quote becomes two, and there is a copy of what has one.
    guard output.hasRoom(for: 3 * text.count + 3) else { return }
    output.append(dialect.delimiter)
    guard text.contains(where: dialect.needsQuotes) else {
      output.append(text)
      return
    }
    if dialect.hasQuotes { output.append(UInt8(ascii: "\"")) }
    output.append(dialect.spelled(text))
    if dialect.hasQuotes { output.append(UInt8(ascii: "\"")) }
  }

  /// Writes a cell that is already spelled.
  mutating func spelled(_ cell: [UInt8]) {
    guard output.hasRoom(for: cell.count + 1) else { return }
    output.append(dialect.delimiter)
    output.append(cell)
  }

  /// Writes the items separated by spaces.
  mutating func list(_ items: some Sequence<some CustomStringConvertible>) {
    string(items.map(\.description).joined(separator: " ").utf8)
  }

  /// Writes JSON as a text cell.
  mutating func json(_ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(output.monitor)
    body(&writer)
    if let failure = writer.failure { output.fail(failure) }
    string(writer.take())
  }
}
