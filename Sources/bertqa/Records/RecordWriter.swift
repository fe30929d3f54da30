/// Writes output records from input records.
protocol RecordWriter {
  /// Writes the record with a result, which is spelled in the record's format.
  func writeResult(
    _ result: [UInt8], of record: Record, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem)

  /// Writes the record with the empty result of a record without a text.
  func writeEmpty(
    of record: Record, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem)

  /// Writes the first line of a table.
  func writeHeader(_ record: Record, in block: Block, to output: inout [UInt8])

  /// Writes the record with the empty result of a failure, and its reason.
  func writeNull(of record: Record, _ problem: RecordProblem, in block: Block, to output: inout [UInt8])

  /// Writes the record unchanged, and adds what the last one lacks, so that another can follow: the line end, and the
  /// closing quote.
  func writeRaw(_ record: Record, in block: Block, to output: inout [UInt8])
}

extension RecordWriter {
  /// Adds a line end if the record came without one.
  /// - Parameter returnEnds: true if a carriage return is a line end.
  func endLine(of record: Record, _ output: inout [UInt8], returnEnds: Bool = false) {
    if case .part(_, let isLast) = record.kind {
      if !isLast { return }
      // The parts before ended with the input.
      if record.raw.isEmpty { return output.append(UInt8(ascii: "\n")) }
    }
    guard let last = output.last, last != UInt8(ascii: "\n") else { return }
    if !returnEnds || last != UInt8(ascii: "\r") { output.append(UInt8(ascii: "\n")) }
  }
}
