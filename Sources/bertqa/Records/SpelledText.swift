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
    guard let action = search.action() else { return nil }
    let call = search.options.call
    let replacements = try EntityList.replacements(in: text, list.entities, action, call: call)
    if replacements.isEmpty { return Array(field) }
    let monitor = CallMonitor(call)
    if let ranges = rangesInField(replacements.map(\.range)) {
      let result = try Self.replaced(field, zip(ranges, replacements.map { spelled($0.text) }), monitor)
      if isOneField(result) { return result }
    }
    return spelledAnew(try Self.replaced(text, replacements.lazy.map { ($0.range, $0.text) }, monitor))
  }

  private static func replaced(
    _ bytes: UnsafeBufferPointer<UInt8>, _ replacements: some Sequence<(Range<Int>, [UInt8])>,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> [UInt8] {
    var result: [UInt8] = []
    var position = 0
    for (range, text) in replacements {
      try result.makeRoom(for: range.lowerBound - position + text.count, monitor)
      result += bytes[position..<range.lowerBound]
      result += text
      position = range.upperBound
    }
    try result.makeRoom(for: bytes.count - position, monitor)
    result += bytes[position...]
    return result
  }

  private static let quote = UInt8(ascii: "\"")

  private var isQuoted: Bool {
    guard field.first == Self.quote else { return false }
    if case .table(let dialect) = format { return dialect.hasQuotes }
    return true
  }

  /// Returns the bytes as spelled inside the field.
  private func spelled(_ bytes: [UInt8]) -> [UInt8] {
    guard case .table(let dialect) = format else { return JSONWriter.spelled(bytes) }
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

  /// Returns ascending ranges of the text as ranges of the field; nil if the spelling does not allow replacement
  /// of parts.
  private func rangesInField(_ ranges: [Range<Int>]) -> [Range<Int>]? {
    if let start = startOfText { return ranges.map { $0.lowerBound + start..<$0.upperBound + start } }
    let offsets = Array(Set(ranges.flatMap { [$0.lowerBound, $0.upperBound] })).sorted()
    guard let places = places(of: offsets) else { return nil }
    return ranges.map { range in
      let start = places[range.lowerBound]?.start ?? 0
      return start..<max(start, places[range.upperBound]?.end ?? 0)
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
