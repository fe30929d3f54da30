/// Appends result columns to the rows of a table. The row's own bytes are unchanged.
struct TableRecordWriter: RecordWriter {
  private let dialect: TableDialect
  /// The names of the result columns. The last column holds the reason of a failure.
  private let newNames: [[UInt8]]

  /// True if the result replaces the first text instead of adding a column.
  private let replacesText: Bool

  init(newNames: [[UInt8]], dialect: TableDialect, replacesText: Bool) {
    self.replacesText = replacesText
    self.newNames = newNames
    self.dialect = dialect
  }

  /// - Parameter result: the result columns without the reason, each preceded by a delimiter.
  func writeResult(_ result: [UInt8], of record: Record, in block: Block, to output: inout [UInt8]) {
    if replacesText, let cell = record.place?.range {
      write([dialect.delimiter], of: record, replacing: (cell, result.dropFirst()), in: block, to: &output)
    } else {
      write(result + [dialect.delimiter], of: record, in: block, to: &output)
    }
  }

  func writeEmpty(of record: Record, in block: Block, to output: inout [UInt8]) {
    let columns = [UInt8](repeating: dialect.delimiter, count: newNames.count)
    write(columns, of: record, in: block, to: &output)
  }

  func writeHeader(_ record: Record, in block: Block, to output: inout [UInt8]) {
    var writer = CellWriter(dialect: dialect)
    for name in newNames { writer.string(name) }
    write(writer.bytes, of: record, in: block, to: &output)
  }

  /// Fills up a row that is too short, so that the result columns line up. Empties all columns if the row's
  /// texts cannot be located or a quote is open.
  func writeNull(
    of record: Record, _ problem: RecordProblem, in block: Block, to output: inout [UInt8]
  ) {
    var writer = CellWriter(dialect: dialect)
    // The position of the text in a malformed row is unknown.
    let isUnknown =
      problem.kind == .recordTooLarge || problem.kind == .truncated || replacesText && record.place == nil
    for _ in 0..<record.missingColumns + newNames.count - (isUnknown ? 2 : 1) { writer.null() }
    writer.string(problem.message.utf8)
    if isUnknown {
      output += writer.bytes
      output.append(UInt8(ascii: "\n"))
    } else {
      let cell = replacesText ? record.place?.range : nil
      write(writer.bytes, of: record, replacing: cell.map { ($0, []) }, in: block, to: &output)
    }
  }

  func writeRaw(_ record: Record, in block: Block, to output: inout [UInt8]) {
    output.append(contentsOf: block.bytes(record.raw))
    // An open quote would take in the rows after this one.
    if record.isCut { output.append(UInt8(ascii: "\"")) }
    endLine(of: record, &output, returnEnds: true)
  }

  /// - Parameter cell: the replacement of one cell.
  private func write(
    _ columns: [UInt8], of record: Record,
    replacing cell: (range: Range<Int>, bytes: ArraySlice<UInt8>)? = nil,
    in block: Block, to output: inout [UInt8]
  ) {
    var start = record.raw.lowerBound
    if let cell {
      output.append(contentsOf: block.bytes(start..<cell.range.lowerBound))
      output += cell.bytes
      start = cell.range.upperBound
    }
    output.append(contentsOf: block.bytes(start..<record.content.upperBound))
    output += columns
    output.append(contentsOf: block.bytes(record.content.upperBound..<record.raw.upperBound))
    endLine(of: record, &output, returnEnds: true)
  }
}
