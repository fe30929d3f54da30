// Files of records. The first byte picks the format, the second the limits, the third how many bytes come
// with each read: what is found must not depend on the last.

/// Bytes in memory, so many at a time.
private final class MemorySource: RecordSource {
  let input: Input
  let isStopped = false
  private var rest: ArraySlice<UInt8>
  private let chunk: Int

  init(_ bytes: [UInt8], chunk: Int) throws(ToolError) {
    input = try Input(path: "/dev/null")
    rest = bytes[...]
    self.chunk = chunk
  }

  func read(into buffer: ByteBuffer, insideRecord: Bool) throws(ToolError) -> RecordReader.Reading {
    let part = Array(rest.prefix(chunk))
    rest = rest.dropFirst(part.count)
    try part.withUnsafeBufferPointer { (bytes) throws(ToolError) in try buffer.append(bytes) }
    return part.isEmpty ? .end : .bytes
  }
}

/// Returns the records' bytes, kinds, problems and texts, and the error at the end. The parts of a record
/// above the limit depend on the reads, so only its end counts.
private func found(_ bytes: [UInt8], _ form: RecordForm, _ limit: Int, chunk: Int) -> [String] {
  var list: [String] = []
  do throws(ToolError) {
    let reader = try RecordReader(
      MemorySource(bytes, chunk: chunk), form, RecordReader.Limits(recordBytes: limit))
    while let block = try reader.next() {
      for record in block.records {
        precondition(record.raw.lowerBound >= 0 && record.raw.upperBound <= block.input.count)
        switch record.kind {
        case .blank, .repeatedHeader: continue  // runs of blanks are cut where blocks are
        case .part(_, let isLast):
          if isLast { list.append("part \(record.endOffset) \(record.endNumber)") }
          continue
        case .header: list.append("header")
        case .data: break
        }
        var line = "\(record.number) \(record.endOffset) \(record.endNumber) \(record.missingColumns)"
        line += " \(record.raw.count) \(record.problem?.message ?? "")"
        if record.problem == nil, case .data = record.kind {
          for field in block.fields[record.firstField..<record.firstField + form.fields.texts.count] {
            line += " [" + String(decoding: block.text(field), as: UTF8.self) + "]"
          }
          if let id = record.id { line += " id " + String(decoding: block.bytes(id), as: UTF8.self) }
          if let place = record.place {
            precondition(place.range.upperBound <= block.input.count)
            line += " place \(place.range.lowerBound - record.raw.lowerBound) \(place.depth)"
          }
        }
        list.append(line)
      }
    }
  } catch {
    list.append(error.message)
  }
  return list
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRecords(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size >= 3 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: data + 3, count: size - 3))
  let formats: [RecordFormat] = [
    .jsonLines, .table(.csv), .table(.tsv), .lengthPrefixed,
    .table(TableDialect(delimiter: UInt8(ascii: ";"), hasQuotes: true)),
  ]
  guard let text = FieldPath("text"), let second = FieldPath("a.0"), let id = FieldPath("id"),
    let output = FieldPath("out")
  else { return 0 }
  let limit = data[1] < 128 ? 1 << 20 : Int(data[1]) - 120
  let form = RecordForm(
    format: formats[Int(data[0]) % formats.count],
    fields: RecordFields(
      texts: data[0] < 128 ? [text] : [text, second], stringCount: 1, id: id, output: output,
      maximumTextBytes: 1 << 10),
    newNames: [Array("out".utf8)])
  let whole = found(bytes, form, limit, chunk: 1 << 20)
  let pieces = found(bytes, form, limit, chunk: Int(data[2] % 32) + 1)
  guard whole == pieces else {
    fatalError("in one read: \(whole)\nin pieces: \(pieces)")
  }
  return 0
}
