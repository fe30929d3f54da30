/// Puts the columns of results behind the rows of a table. The row's own bytes stay as they are.
struct TableRecordWriter: RecordWriter {
  private let dialect: TableDialect
  private let newNames: [[UInt8]]

  init(newNames: [[UInt8]], dialect: TableDialect) {
    self.newNames = newNames
    self.dialect = dialect
  }

  /// - Parameter result: the columns, with a delimiter before each.
  func writeResult(_ result: [UInt8], of record: FilterRecord, in block: Block, to output: inout [UInt8]) {
    output.append(contentsOf: block.bytes(record.raw.lowerBound..<record.content.upperBound))
    output += result
    output.append(contentsOf: block.bytes(record.content.upperBound..<record.raw.upperBound))
    endLine(of: record, &output)
  }

  func writeHeader(_ record: FilterRecord, in block: Block, to output: inout [UInt8]) {
    var writer = CellWriter(dialect: dialect)
    for name in newNames { writer.text(name) }
    writeResult(writer.bytes, of: record, in: block, to: &output)
  }

  /// A row that is too short is filled up, so that the empty columns are the results'. One that is not known,
  /// or in which a quote is open, becomes empty as a whole.
  func writeNull(
    of record: FilterRecord, _ problem: RecordProblem, in block: Block, to output: inout [UInt8]
  ) {
    let count = record.missingColumns + newNames.count
    if problem.kind == .recordTooLarge || problem.kind == .truncated {
      output += repeatElement(dialect.delimiter, count: count - 1)
      output.append(UInt8(ascii: "\n"))
    } else {
      let empty = Array(repeating: dialect.delimiter, count: count)
      writeResult(empty, of: record, in: block, to: &output)
    }
  }

  func writeRaw(_ record: FilterRecord, in block: Block, to output: inout [UInt8]) {
    output.append(contentsOf: block.bytes(record.raw))
    endLine(of: record, &output)
  }
}
