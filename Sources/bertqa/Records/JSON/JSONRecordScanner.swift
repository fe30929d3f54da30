/// Finds the fields of JSON object records.
struct JSONRecordScanner: RecordScanner {
  let columnCount = 0
  private let fields: RecordFields
  private var scanner: JSONScanner

  /// Returns the path of the failure reason: a member of the record, next to the one that holds the result or leads to
  /// it.
  static func reason(for output: FieldPath) -> FieldPath {
    FieldPath(member: output.segments[0] + "_error".utf8)
  }

  init(_ fields: RecordFields) {
    self.fields = fields
    scanner = JSONScanner(
      paths: fields.texts + (fields.id.map { [$0] } ?? []) + [Self.reason(for: fields.output), fields.output])
  }

  mutating func readHeader(_ content: Range<Int>, in block: Block) {}

  func names(_ content: Range<Int>, in block: Block) -> [UInt8] { [] }

  mutating func scan(_ record: inout Record, in block: Block) throws(ToolError) {
    do throws(JSONScanner.Flaw) {
      try scanner.scan(block.input.bytes, record.content)
    } catch {
      record.problem = RecordProblem(.invalidRecord, message(of: error, record.content, in: block))
    }
    record.id = id
    guard record.problem == nil else { return }
    record.place = place
    if fields.isTextReplaced, scanner.repeated & 1 == 1 {
      // A result would replace only one of the values, so the others would stay in the output.
      record.problem = RecordProblem(.invalidRecord, "the key '\(fields.texts[0].name)' occurs twice")
      let replaced = record.place?.range
      record.place?.others = scanner.occurrences.filter { $0 != replaced }
      return
    }
    record.firstField = block.fields.count
    for (index, field) in fields.texts.enumerated() {
      let found = scanner.values[index]
      if index >= fields.requiredCount, found == nil || found?.kind == .null {
        let end = record.content.upperBound
        block.fields.append(FieldText(isDecoded: false, range: end..<end, spelled: end..<end))
        continue
      }
      guard let value = found else {
        record.problem = fields.missing(field)
        return
      }
      if value.kind == .null, fields.nullText != .fail {
        if fields.nullText == .skip { record.hasNoText = true }
        let end = value.range.upperBound
        block.fields.append(FieldText(isDecoded: false, range: end..<end, spelled: value.range))
        continue
      }
      guard value.kind == .string || value.kind.isSimple && index >= fields.stringCount else {
        record.problem = RecordProblem(
          .wrongType, "the field '\(field.name)' is \(value.kind.phrase), not a string")
        return
      }
      let text = try text(of: value, in: block)
      guard text.range.count <= fields.maximumTextBytes else {
        record.problem = fields.tooLarge(field, text.range.count)
        return
      }
      if fields.isTextRedacted, index == 0, !block.text(text).isValidUTF8 {
        record.problem = block.source.encodingProblem
        return
      }
      block.fields.append(text)
    }
    if record.place == nil {
      record.problem = RecordProblem(
        .wrongType, "there is no place for '\(fields.output.name)': what should hold it is not an object")
    }
  }

  private func message(of flaw: JSONScanner.Flaw, _ content: Range<Int>, in block: Block) -> String {
    let first = block.bytes(content).first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let message = "not a JSON object: \(flaw.what) at byte \(flaw.position - content.lowerBound)"
    if first == UInt8(ascii: "[") { return "\(message); 'jq -c .[]' makes JSON lines of an array" }
    let isCut = first == UInt8(ascii: "{") && flaw.position >= content.upperBound
    return isCut ? "\(message), where the line ends; 'jq -c .' makes JSON lines of other JSON" : message
  }

  private var id: Range<Int>? {
    guard fields.id != nil, let value = scanner.values[fields.texts.count] else { return nil }
    return value.kind == .array || value.kind == .object ? nil : value.range
  }

  private var place: ResultPlace? {
    let reason = scanner.values[scanner.paths.count - 2]?.range
    if let old = scanner.values[scanner.paths.count - 1] {
      return ResultPlace(
        range: old.range, depth: fields.output.segments.count, needsComma: false, isNull: old.kind == .null,
        reason: reason)
    }
    guard let object = scanner.nearest, object.kind == .object else { return nil }
    return ResultPlace(
      range: object.closing..<object.closing, depth: object.depth, needsComma: !object.isEmpty, reason: reason
    )
  }

  private func text(of value: JSONScanner.Value, in block: Block) throws(ToolError) -> FieldText {
    guard value.kind == .string else {
      return FieldText(isDecoded: false, range: value.range, spelled: value.range)
    }
    let quoted = value.range.dropFirst().dropLast()
    guard value.hasEscapes else { return FieldText(isDecoded: false, range: quoted, spelled: value.range) }
    let start = block.decoded.count
    try JSONText.decode(block.bytes(quoted), into: block.decoded)
    return FieldText(isDecoded: true, range: start..<block.decoded.count, spelled: value.range)
  }
}

extension JSONScanner.Kind {
  /// True if the value's spelling in the record can serve as a text.
  fileprivate var isSimple: Bool { self == .number || self == .boolean }

  fileprivate var phrase: String {
    switch self {
    case .string: "a string"
    case .number: "a number"
    case .boolean: "true or false"
    case .null: "null"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
