/// Makes the records of the output from those of the input.
protocol RecordWriter {
  /// The record with a result, in the form of the record's format.
  func writeResult(
    _ result: [UInt8], of record: Record, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem)

  /// The record with the empty result of one without a text.
  func writeEmpty(
    of record: Record, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem)

  /// The first line of a table.
  func writeHeader(_ record: Record, in block: Block, to output: inout [UInt8])

  /// The record with the empty result of a failure, and its reason.
  func writeNull(of record: Record, _ problem: RecordProblem, in block: Block, to output: inout [UInt8])

  /// The record as it came; the line end is made up for where the last line has none.
  func writeRaw(_ record: Record, in block: Block, to output: inout [UInt8])
}

extension RecordWriter {
  /// Ends a line whose record came without a line end.
  /// - Parameter returnEnds: whether a carriage return is a line end.
  func endLine(of record: Record, _ output: inout [UInt8], returnEnds: Bool = false) {
    if case .part(_, isLast: false) = record.kind { return }
    guard let last = output.last, last != UInt8(ascii: "\n") else { return }
    if !returnEnds || last != UInt8(ascii: "\r") { output.append(UInt8(ascii: "\n")) }
  }
}
