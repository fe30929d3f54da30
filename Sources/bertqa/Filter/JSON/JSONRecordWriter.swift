/// Puts results into JSON records. Every other byte of a record stays as it is.
struct JSONRecordWriter: RecordWriter {
  /// Whether a record stands behind its length instead of before a line feed.
  private let isLengthPrefixed: Bool
  private let name: [UInt8]
  /// Entry d: the members to open where d segments of the output's path exist, up to the result.
  private let openings: [[UInt8]]

  init(output: FieldPath, isLengthPrefixed: Bool) {
    self.isLengthPrefixed = isLengthPrefixed
    name = output.segments[0]
    var openings: [[UInt8]] = [[]]
    for segment in output.segments.reversed() {
      var writer = JSONWriter()
      writer.string(segment)
      let braces = openings.count == 1 ? "" : "{"
      openings.append(writer.take() + ":\(braces)".utf8 + (openings.last ?? []))
    }
    self.openings = openings.reversed()
  }

  func writeResult(
    _ result: [UInt8], of record: FilterRecord, in block: Block, to output: inout [UInt8]
  ) throws(RecordProblem) {
    guard let place = record.place else { return }
    let opening = openings[place.depth]
    let closingCount = max(0, openings.count - 2 - place.depth)
    let size =
      record.content.count - place.range.count + (place.needsComma ? 1 : 0) + opening.count + result.count
      + closingCount
    guard !isLengthPrefixed || size <= UInt32.max else {
      throw RecordProblem(.refused, "with its result the record would have \(size) bytes, above 4 GiB")
    }
    if isLengthPrefixed { Self.appendLength(size, to: &output) }
    let start = isLengthPrefixed ? record.content.lowerBound : record.raw.lowerBound
    output.append(contentsOf: block.bytes(start..<place.range.lowerBound))
    if place.needsComma { output.append(UInt8(ascii: ",")) }
    output.append(contentsOf: opening)
    output.append(contentsOf: result)
    output.append(contentsOf: repeatElement(UInt8(ascii: "}"), count: closingCount))
    output.append(contentsOf: block.bytes(place.range.upperBound..<record.raw.upperBound))
    if !isLengthPrefixed { endLine(of: record, &output) }
  }

  func writeNull(
    of record: FilterRecord, _ problem: RecordProblem, in block: Block, to output: inout [UInt8]
  ) {
    if record.place != nil, (try? writeResult(Self.null, of: record, in: block, to: &output)) != nil {
      return
    }
    // The record is no object: it becomes a string in one.
    var object = [UInt8(ascii: "{")] + openings[0] + Self.null
    object += repeatElement(UInt8(ascii: "}"), count: openings.count - 2)
    var writer = JSONWriter()
    object.append(UInt8(ascii: ","))
    writer.string(name + "_error".utf8)
    object += writer.take() + ":".utf8
    writer.string(problem.message)
    object += writer.take()
    if case .data = record.kind {
      object.append(UInt8(ascii: ","))
      writer.string(name + "_record".utf8)
      object += writer.take() + ":".utf8
      writer.string(block.bytes(record.content))
      object += writer.take()
    }
    object.append(UInt8(ascii: "}"))
    if isLengthPrefixed { Self.appendLength(object.count, to: &output) }
    output += object
    if !isLengthPrefixed { output.append(UInt8(ascii: "\n")) }
  }

  func writeHeader(_ record: FilterRecord, in block: Block, to output: inout [UInt8]) {}

  func writeRaw(_ record: FilterRecord, in block: Block, to output: inout [UInt8]) {
    output.append(contentsOf: block.bytes(record.raw))
    if !isLengthPrefixed { endLine(of: record, &output) }
  }

  private static let null = Array("null".utf8)

  private static func appendLength(_ count: Int, to output: inout [UInt8]) {
    let length = UInt32(clamping: count)
    for shift in stride(from: UInt32(24), through: 0, by: -8) {
      output.append(UInt8(truncatingIfNeeded: length >> shift))
    }
  }
}
