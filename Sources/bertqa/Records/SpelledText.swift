import BertQACore

/// A text and the JSON or table field that spells it.
struct SpelledText {
  let text: UnsafeBufferPointer<UInt8>
  /// The field's bytes, with its quotes.
  let field: UnsafeBufferPointer<UInt8>
  let format: RecordFormat

  /// Returns the field with the entities of its text replaced. All other bytes keep their spelling: escapes,
  /// quotes, white space.
  func redacted(_ list: EntityList, by search: EntitySearch) throws(BertQAError) -> [UInt8]? {
    guard search.redaction != .none else { return nil }
    if list.entities.isEmpty { return Array(field) }
    if let entities = entitiesOfField(list.entities) {
      let result = try search.redacted(field, entities, spelling: spelled)
      if let result, isOneField(result) { return result }
    }
    return try search.redacted(text, list.entities).map(spelledAnew)
  }

  private static let quote = UInt8(ascii: "\"")

  private var isQuoted: Bool {
    guard field.first == Self.quote else { return false }
    if case .table(let dialect) = format { return dialect.hasQuotes }
    return true
  }

  /// Returns the bytes as spelled inside the field.
  private func spelled(_ bytes: [UInt8]) -> [UInt8] {
    guard case .table(let dialect) = format else {
      var writer = JSONWriter()
      writer.keepsInvalid = true
      writer.string(bytes)
      return Array(writer.take().dropFirst().dropLast())
    }
    return isQuoted || !dialect.hasQuotes ? dialect.spelled(bytes) : bytes
  }

  /// True if an unquoted field is still a single field after the replacements.
  private func isOneField(_ bytes: [UInt8]) -> Bool {
    guard case .table(let dialect) = format, dialect.hasQuotes, !isQuoted else { return true }
    return !bytes.contains(where: dialect.isSeparator) && bytes.first != Self.quote
  }

  /// Returns a newly spelled field with this text.
  private func spelledAnew(_ bytes: [UInt8]) -> [UInt8] {
    guard case .table(let dialect) = format else {
      var writer = JSONWriter()
      writer.keepsInvalid = true
      writer.string(bytes)
      return writer.take()
    }
    var writer = CellWriter(dialect: dialect)
    writer.string(bytes)
    return Array(writer.bytes.dropFirst())
  }

  // MARK: - Places

  /// Returns the entities with their byte ranges in the field; nil if the spelling does not allow replacement
  /// of parts.
  private func entitiesOfField(_ entities: [Entity]) -> [Entity]? {
    if let start = startOfText {
      return entities.map { entity in
        var moved = entity
        moved.bytes = TextRange(start: entity.bytes.start + start, end: entity.bytes.end + start)
        return moved
      }
    }
    let offsets = Array(Set(entities.flatMap { [$0.bytes.start, $0.bytes.end] })).sorted()
    guard let places = places(of: offsets) else { return nil }
    return entities.map { entity in
      var moved = entity
      moved.bytes = TextRange(
        start: places[entity.bytes.start]?.start ?? 0, end: places[entity.bytes.end]?.end ?? 0)
      return moved
    }
  }

  /// The start of the text in the field if the field spells it literally; otherwise nil.
  private var startOfText: Int? {
    guard let text = text.baseAddress, let field = field.baseAddress else { return nil }
    let start = isQuoted ? 1 : 0
    // Numbers and the like become strings.
    if case .table = format {} else if !isQuoted { return nil }
    return text == field + start && self.text.count + 2 * start == self.field.count ? start : nil
  }

  /// Maps ascending offsets in the text to positions in the field. An offset inside an escaped character maps
  /// to the start and end of the escape.
  private func places(of offsets: [Int]) -> [Int: (start: Int, end: Int)]? {
    guard isQuoted else { return nil }
    var places: [Int: (start: Int, end: Int)] = [:]
    // Start after the quote.
    var (position, textPosition) = (1, 0)
    for offset in offsets + [text.count] {
      var start = position
      while textPosition < offset {
        guard let unit = unit(at: position) else { return nil }
        start = position
        position += unit.spelled
        textPosition += unit.text
      }
      places[offset] = (textPosition == offset ? position : start, position)
    }
    // The closing quote is the last byte unless text follows it, as in "a"b.
    return position == field.count - 1 ? places : nil
  }

  private func unit(at position: Int) -> (spelled: Int, text: Int)? {
    guard position < field.count - 1 else { return nil }
    guard case .table = format else { return JSONText.unit(field, at: position) }
    guard field[position] == Self.quote else { return (1, 1) }
    return position + 1 < field.count - 1 && field[position + 1] == Self.quote ? (2, 1) : nil
  }
}
