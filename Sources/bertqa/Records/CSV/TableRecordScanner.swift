/// Finds the fields of a table's rows by the column names in the first line. It keeps only the fields that it
/// needs, so that memory does not grow with the number of columns.
struct TableRecordScanner: RecordScanner {
  private(set) var columnCount = 0
  private let fields: RecordFields
  /// The names of the result columns.
  private let newNames: [[UInt8]]
  private let dialect: TableDialect
  /// The needed columns, each with the index of its text. The id's slot comes after the texts.
  private var slots: [(column: Int, slot: Int)] = []
  /// The fields of the current row, by slot.
  private var found: [RowWalker.Field?] = []

  /// The maximum number of names that a message lists.
  private static let shownNames = 20

  init(_ fields: RecordFields, newNames: [[UInt8]], dialect: TableDialect) {
    self.fields = fields
    self.newNames = newNames
    self.dialect = dialect
  }

  mutating func readHeader(_ content: Range<Int>, in block: Block) throws(ToolError) {
    let wanted = fields.texts + (fields.id.map { [$0] } ?? [])
    let names = wanted.map { Array($0.name.utf8) }
    var columns: [Int?] = Array(repeating: nil, count: names.count)
    var shown: [String] = []
    var walker = RowWalker(block.input.bytes, content, dialect)
    columnCount = 0
    while let field = walker.next() {
      let decodedCount = block.decoded.count
      let name = block.text(try text(field, in: block))
      if let taken = newNames.first(where: { name.elementsEqual($0) }) {
        throw ToolError(
          .input,
          "the table has a column '\(String(decoding: taken, as: UTF8.self))' already: "
            + "choose another --output-field")
      }
      for (slot, wanted) in names.enumerated() where name.elementsEqual(wanted) {
        guard columns[slot] == nil else {
          throw ToolError(
            .input,
            "\(block.source.shown): columns \((columns[slot] ?? 0) + 1) and \(columnCount + 1) are both called "
              + "'\(String(decoding: wanted, as: UTF8.self))': rename one")
        }
        columns[slot] = columnCount
      }
      if shown.count < Self.shownNames { shown.append("'\(String(decoding: name, as: UTF8.self))'") }
      block.decoded.truncate(to: decodedCount)
      columnCount += 1
    }
    slots = []
    for (slot, column) in columns.enumerated() {
      guard let column else {
        let others = columnCount > shown.count ? " and \(columnCount - shown.count) more" : ""
        throw ToolError(
          .input,
          "the table has no column '\(wanted[slot].name)'; its first line names "
            + shown.joined(separator: ", ") + others + hint(names, content, in: block) + wanted[slot].advice)
      }
      slots.append((column, slot))
    }
    slots.sort { $0.column < $1.column }
    found = Array(repeating: nil, count: names.count)
  }

  /// Returns a hint that names the delimiter under which the first line has the expected names, or an empty
  /// string.
  private func hint(_ names: [[UInt8]], _ content: Range<Int>, in block: Block) -> String {
    for delimiter in ",;\t|".utf8 where delimiter != dialect.delimiter {
      var found: Set<[UInt8]> = []
      var walker = RowWalker(block.input.bytes, content, TableDialect(delimiter: delimiter, hasQuotes: true))
      while let field = walker.next() { found.insert(Array(block.bytes(field.range))) }
      guard found.isSuperset(of: names) else { continue }
      return delimiter == UInt8(ascii: ",")
        ? "; with --format csv it has" : "; with --format csv --delimiter '\(spelled(delimiter))' it has"
    }
    return ""
  }

  private func spelled(_ delimiter: UInt8) -> String {
    delimiter == UInt8(ascii: "\t") ? "\\t" : String(Unicode.Scalar(delimiter))
  }

  /// Returns the column names, each preceded by its length.
  func names(_ content: Range<Int>, in block: Block) throws(ToolError) -> [UInt8] {
    var names: [UInt8] = []
    var walker = RowWalker(block.input.bytes, content, dialect)
    let decodedCount = block.decoded.count
    while let field = walker.next() {
      let name = block.text(try text(field, in: block))
      names += "\(name.count) ".utf8
      names += name
      block.decoded.truncate(to: decodedCount)
    }
    return names
  }

  mutating func scan(_ record: inout Record, in block: Block) throws(ToolError) {
    for slot in found.indices { found[slot] = nil }
    var walker = RowWalker(block.input.bytes, record.content, dialect)
    var count = 0
    var next = 0
    while let field = walker.next() {
      while next < slots.count, slots[next].column == count {
        found[slots[next].slot] = field
        next += 1
      }
      count += 1
    }
    record.missingColumns = max(0, columnCount - count)
    if fields.id != nil { record.id = found[fields.texts.count]?.range }
    guard count == columnCount else {
      if fields.isTextReplaced { record.missingColumns = columnCount }
      record.problem = RecordProblem(
        .invalidRecord, "the number of columns is \(count), not \(columnCount) as in the first row")
      return
    }
    record.firstField = block.fields.count
    for (slot, field) in fields.texts.enumerated() {
      guard let cell = found[slot] else { continue }  // Never nil here: the row has all columns.
      if slot == 0 { record.place = ResultPlace(range: cell.raw, depth: 0, needsComma: false) }
      let text = try text(cell, in: block)
      guard text.range.count <= fields.maximumTextBytes else {
        record.problem = fields.tooLarge(field, text.range.count)
        return
      }
      if fields.isTextRedacted, slot == 0, !block.text(text).isValidUTF8 {
        record.problem = block.source.encodingProblem
        return
      }
      if text.range.isEmpty, fields.nullText == .skip, slot < fields.requiredCount { record.hasNoText = true }
      block.fields.append(text)
    }
  }

  private func text(_ field: RowWalker.Field, in block: Block) throws(ToolError) -> FieldText {
    guard field.isQuoted else {
      return FieldText(isDecoded: false, range: field.range, spelled: field.raw)
    }
    let start = block.decoded.count
    try RowWalker.decode(block.bytes(field.range), into: block.decoded)
    return FieldText(isDecoded: true, range: start..<block.decoded.count, spelled: field.raw)
  }
}
