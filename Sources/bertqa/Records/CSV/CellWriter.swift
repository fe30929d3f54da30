import BertQACore

/// Writes the columns of one result, each preceded by the delimiter.
struct CellWriter: ValueWriter {
  let dialect: TableDialect
  private(set) var bytes: [UInt8] = []
  private let monitor: CallMonitor?
  /// As a JSON writer's.
  private(set) var failure: BertQAError?

  /// - Parameter monitor: of the call whose result is written; told of the memory.
  init(dialect: TableDialect, _ monitor: CallMonitor? = nil) {
    self.dialect = dialect
    self.monitor = monitor
  }

  mutating func null() { if hasRoom(for: 1) { bytes.append(dialect.delimiter) } }
  mutating func integer(_ value: Int) { string("\(value)".utf8) }
  mutating func boolean(_ value: Bool) { string((value ? "true" : "false").utf8) }

  /// Writes the shortest decimal that reads back as the same number, or nothing if the value is not finite.
  mutating func number(_ value: Float) { string((value.isFinite ? value.description : "").utf8) }

  mutating func string(_ text: some Collection<UInt8>) {
    // A quote becomes two, and there is a copy of what has one.
    guard hasRoom(for: 3 * text.count + 3) else { return }
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
    guard hasRoom(for: cell.count + 1) else { return }
    bytes.append(dialect.delimiter)
    bytes += cell
  }

  /// Writes the items separated by spaces.
  mutating func list(_ items: some Sequence<some CustomStringConvertible>) {
    string(items.map(\.description).joined(separator: " ").utf8)
  }

  /// Writes JSON as a text cell.
  mutating func json(_ body: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(monitor)
    body(&writer)
    failure = failure ?? writer.failure
    string(writer.take())
  }

  private mutating func hasRoom(for count: Int) -> Bool {
    guard failure == nil else { return false }
    guard let monitor else { return true }
    do throws(BertQAError) {
      try bytes.makeRoom(for: count, monitor)
      return true
    } catch {
      failure = error
      return false
    }
  }
}
