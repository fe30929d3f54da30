/// Inserts results into JSON records. All other bytes of a record are unchanged.
struct JSONRecordWriter: RecordWriter {
  /// True if a record is preceded by its length instead of ending with a line feed.
  private let isLengthPrefixed: Bool
  /// True if a record that is not a JSON object is written as a string.
  private let keepsRecord: Bool
  private let name: [UInt8]
  /// Entry d opens the objects down to the result if d segments of the output's path already exist.
  private let openings: [[UInt8]]
  /// The spelling of the key: `"bertqa_error":`.
  private let reasonKey: [UInt8]

  /// A range of a record's bytes and its replacement.
  private typealias Change = (range: Range<Int>, bytes: [UInt8])

  init(output: FieldPath, isLengthPrefixed: Bool, keepsRecord: Bool) {
    self.keepsRecord = keepsRecord
    self.isLengthPrefixed = isLengthPrefixed
    name = output.segments[0]
    reasonKey = Self.quoted(JSONRecordScanner.reason(for: output).segments[0]) + ":".utf8
    var openings: [[UInt8]] = [[]]
    for segment in output.segments.reversed() {
      let braces = openings.count == 1 ? "" : "{"
      openings.append(Self.quoted(segment) + ":\(braces)".utf8 + (openings.last ?? []))
    }
    self.openings = openings.reversed()
  }

  func writeResult(
    _ result: [UInt8], of record: Record, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem) {
    guard let place = record.place else { return }
    // Removes the reason of an earlier failure.
    let reason = place.isNull ? place.reason : nil
    if reason != nil || isLengthPrefixed {
      let changes = [change(at: place, to: result)] + (reason.map { [($0, Self.null)] } ?? [])
      return try write(record, with: changes, in: block, to: &output)
    }
    // The fast path for nearly all records avoids an allocation.
    output.append(contentsOf: block.bytes(record.raw.lowerBound..<place.range.lowerBound))
    if place.needsComma { output.append(UInt8(ascii: ",")) }
    output.append(contentsOf: openings[place.depth])
    output.append(contentsOf: result)
    output.append(contentsOf: repeatElement(UInt8(ascii: "}"), count: closingCount(place)))
    output.append(contentsOf: block.bytes(place.range.upperBound..<record.raw.upperBound))
    endLine(of: record, &output)
  }

  func writeEmpty(
    of record: Record, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem) {
    try writeResult(Self.null, of: record, in: block, to: &output)
  }

  func writeNull(
    of record: Record, _ problem: RecordProblem, in block: Block, to output: inout [UInt8]
  ) {
    if let place = record.place {
      var changes = [change(at: place, to: Self.null)] + place.others.map { ($0, Self.null) }
      let reason = Self.quoted(problem.message.utf8)
      if let old = place.reason {
        changes.append((old, reason))
      } else if let brace = block.bytes(record.content).lastIndex(of: UInt8(ascii: "}")) {
        let end = record.content.lowerBound + brace
        changes.append((end..<end, ",".utf8 + reasonKey + reason))
      }
      if (try? write(record, with: changes, in: block, to: &output)) != nil { return }
    }
    // The record is not an object: it becomes a string in a new object.
    var object = [UInt8(ascii: "{")] + openings[0] + Self.null
    object += repeatElement(UInt8(ascii: "}"), count: openings.count - 2)
    object += ",".utf8 + reasonKey + Self.quoted(problem.message.utf8)
    if case .data = record.kind, keepsRecord {
      object += ",".utf8 + Self.quoted(name + "_record".utf8) + ":".utf8
      object += Self.quoted(block.bytes(record.content))
    }
    object.append(UInt8(ascii: "}"))
    if isLengthPrefixed { Self.appendLength(object.count, to: &output) }
    output += object
    if !isLengthPrefixed { output.append(UInt8(ascii: "\n")) }
  }

  func writeHeader(_ record: Record, in block: Block, to output: inout [UInt8]) {}

  func writeRaw(_ record: Record, in block: Block, to output: inout [UInt8]) {
    if isLengthPrefixed, case .data = record.kind {
      // The length of a record that the input's end cut is that of what is there.
      Self.appendLength(record.content.count, to: &output)
      output.append(contentsOf: block.bytes(record.content))
    } else {
      output.append(contentsOf: block.bytes(record.raw))
      if !isLengthPrefixed { endLine(of: record, &output) }
    }
  }

  private func change(at place: ResultPlace, to result: [UInt8]) -> Change {
    var bytes = place.needsComma ? [UInt8(ascii: ",")] : []
    bytes += openings[place.depth]
    bytes += result
    bytes += repeatElement(UInt8(ascii: "}"), count: closingCount(place))
    return (place.range, bytes)
  }

  /// Returns the number of objects that the result's path opens.
  private func closingCount(_ place: ResultPlace) -> Int { max(0, openings.count - 2 - place.depth) }

  private func write(
    _ record: Record, with changes: [Change], in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem) {
    let size = changes.reduce(record.content.count) { $0 + $1.bytes.count - $1.range.count }
    guard !isLengthPrefixed || size <= UInt32.max else {
      throw RecordProblem(.refused, "with its result the record would have \(size) bytes, above 4 GiB")
    }
    if isLengthPrefixed { Self.appendLength(size, to: &output) }
    var position = isLengthPrefixed ? record.content.lowerBound : record.raw.lowerBound
    // Changes at one position keep their order.
    for (range, bytes) in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      output.append(contentsOf: block.bytes(position..<range.lowerBound))
      output.append(contentsOf: bytes)
      position = range.upperBound
    }
    output.append(contentsOf: block.bytes(position..<record.raw.upperBound))
    if !isLengthPrefixed { endLine(of: record, &output) }
  }

  private static let null = Array("null".utf8)

  private static func quoted(_ text: some Collection<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.keepsInvalid = true
    writer.string(text)
    return writer.take()
  }

  private static func appendLength(_ count: Int, to output: inout [UInt8]) {
    let length = UInt32(clamping: count)
    for shift in stride(from: UInt32(24), through: 0, by: -8) {
      output.append(UInt8(truncatingIfNeeded: length >> shift))
    }
  }
}
