import BertQACore

/// How records stand in a file.
enum RecordFormat {
  /// One JSON object a line.
  case jsonLines
  /// Comma-separated values, the first record of which has the fields' names.
  case csv(delimiter: UInt8)
}

/// Reads records field by field from a file that may be larger than memory.
struct RecordFile {
  private let stream: InputStream
  private let format: RecordFormat

  /// - Parameter format: nil: by the file's name, JSON lines unless it ends in .csv or .tsv.
  init(_ file: ArgumentText, format: RecordFormat?) throws(ToolError) {
    stream = try InputStream(file)
    self.format = format ?? Self.format(of: file.string)
  }

  private static func format(of name: String) -> RecordFormat {
    if name.hasSuffix(".csv") { return .csv(delimiter: UInt8(ascii: ",")) }
    if name.hasSuffix(".tsv") { return .csv(delimiter: UInt8(ascii: "\t")) }
    return .jsonLines
  }

  /// Calls `body` with the values of the named fields of each record, in order; each record must have them
  /// all.
  /// - Parameter progress: told the bytes read and the file's size.
  func forEach(
    _ fields: [String], progress: (Int, Int?) -> Void,
    _ body: (_ values: [[UInt8]], _ line: Int) throws(ToolError) -> Void
  ) throws(ToolError) {
    do throws(ToolError) {
      switch format {
      case .jsonLines: try forEachLine(fields, progress, body)
      case .csv(let delimiter): try forEachRow(fields, delimiter, progress, body)
      }
    } catch {
      // Which names a line of it.
      throw ToolError(
        error.code, error.message.hasPrefix("line ") ? "\(stream.shown): \(error.message)" : error.message)
    }
  }

  /// Hands over the file in pieces, the last of which is empty.
  private func forEachPiece(
    _ progress: (Int, Int?) -> Void, _ body: (_ piece: ArraySlice<UInt8>) throws(ToolError) -> Void
  ) throws(ToolError) {
    var bytes = 0
    while true {
      let piece = try stream.read()
      bytes += piece.count
      try body(piece)
      if piece.isEmpty { return }
      progress(bytes, stream.size)
    }
  }

  private func forEachLine(
    _ fields: [String], _ progress: (Int, Int?) -> Void,
    _ body: ([[UInt8]], Int) throws(ToolError) -> Void
  ) throws(ToolError) {
    var reader = LineReader()
    func take(_ line: LineReader.Line) throws(ToolError) {
      let isBlank = line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      if !isBlank { try body(try values(of: fields, in: line), line.number) }
    }
    try forEachPiece(progress) { piece throws(ToolError) in
      reader.feed(piece)
      while let line = try reader.next() { try take(line) }
    }
    if let line = reader.finish() { try take(line) }
  }

  private func values(of fields: [String], in line: LineReader.Line) throws(ToolError) -> [[UInt8]] {
    let json: JSON
    do throws(BertQAError) {
      json = try line.bytes.withUnsafeBufferPointer { bytes throws(BertQAError) in
        try JSONParser.parse(bytes, file: "line \(line.number)")
      }
    } catch {
      throw ToolError(.input, error.message)
    }
    guard case .object(let object) = json else {
      throw ToolError(.input, "line \(line.number): \(json.summary), expected a JSON object")
    }
    var values: [[UInt8]] = []
    for field in fields {
      switch object[field] {
      case .string(let text)?: values.append(Array(text.utf8))
      // Labels are often numbers or truth values.
      case .number?, .bool?: values.append(Array((object[field]?.summary ?? "").utf8))
      case nil: throw ToolError(.input, "line \(line.number): the field '\(field)' is missing")
      case let other?:
        throw ToolError(
          .input, "line \(line.number): the field '\(field)' is \(other.summary), expected text")
      }
    }
    return values
  }

  private func forEachRow(
    _ fields: [String], _ delimiter: UInt8, _ progress: (Int, Int?) -> Void,
    _ body: ([[UInt8]], Int) throws(ToolError) -> Void
  ) throws(ToolError) {
    var reader = CSVReader(delimiter: delimiter)
    var columns: [Int]?
    var width = 0
    func take(_ record: CSVReader.Record) throws(ToolError) {
      if record.isBlank { return }
      guard let columns else {
        columns = try Self.columns(fields, in: record)
        width = record.fields.count
        return
      }
      guard record.fields.count == width else {
        throw ToolError(
          .input, "line \(record.line): \(record.fields.count) fields, but the first record has \(width)")
      }
      try body(columns.map { record.fields[$0] }, record.line)
    }
    try forEachPiece(progress) { piece throws(ToolError) in
      reader.feed(piece)
      while let record = try reader.next() { try take(record) }
    }
    if let record = try reader.finish() { try take(record) }
  }

  private static func columns(_ fields: [String], in header: CSVReader.Record) throws(ToolError) -> [Int] {
    var columns: [Int] = []
    for field in fields {
      guard let column = header.fields.firstIndex(where: { $0.elementsEqual(field.utf8) }) else {
        let found = header.fields.map { "'\(String(decoding: $0, as: UTF8.self))'" }.joined(separator: ", ")
        throw ToolError(
          .input, "line \(header.line): there is no field '\(field)' among \(found)")
      }
      columns.append(column)
    }
    return columns
  }
}
