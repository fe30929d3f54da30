/// Finds the fields of a table's rows by the names in its first line.
struct TableRecordScanner: RecordScanner {
  private(set) var columnCount = 0
  private let fields: RecordFields
  /// Names that the results' columns will have.
  private let newNames: [[UInt8]]
  private var splitter: RowSplitter
  private var columns: [Int] = []
  private var idColumn: Int?

  init(_ fields: RecordFields, newNames: [[UInt8]], dialect: TableDialect) {
    self.fields = fields
    self.newNames = newNames
    splitter = RowSplitter(dialect: dialect)
  }

  mutating func readHeader(_ content: Range<Int>, in block: Block) throws(ToolError) {
    splitter.split(block.input.bytes, content)
    columnCount = splitter.fields.count
    var names: [[UInt8]] = []
    for field in splitter.fields { names.append(Array(block.text(try text(field, in: block)))) }
    for name in newNames where names.contains(name) {
      throw ToolError(
        .input,
        "the table has a column '\(String(decoding: name, as: UTF8.self))' already: "
          + "choose another --output-field")
    }
    func column(_ field: FieldPath) throws(ToolError) -> Int {
      if let index = names.firstIndex(of: Array(field.name.utf8)) { return index }
      let known = names.map { "'\(String(decoding: $0, as: UTF8.self))'" }.joined(separator: ", ")
      throw ToolError(.input, "the table has no column '\(field.name)'; its first line names \(known)")
    }
    columns = []
    for field in fields.texts { columns.append(try column(field)) }
    if let id = fields.id { idColumn = try column(id) }
  }

  mutating func scan(_ record: inout FilterRecord, in block: Block) throws(ToolError) {
    splitter.split(block.input.bytes, record.content)
    record.missingColumns = max(0, columnCount - splitter.fields.count)
    if let idColumn, idColumn < splitter.fields.count { record.id = splitter.fields[idColumn].range }
    guard splitter.fields.count == columnCount else {
      record.problem = RecordProblem(
        .invalidRecord, "the row has \(splitter.fields.count) columns, but the table \(columnCount)")
      return
    }
    record.firstField = block.fields.count
    for (column, field) in zip(columns, fields.texts) {
      let text = try text(splitter.fields[column], in: block)
      guard text.range.count <= fields.maximumTextBytes else {
        record.problem = fields.tooLarge(field, text.range.count)
        return
      }
      block.fields.append(text)
    }
  }

  private func text(_ field: RowSplitter.Field, in block: Block) throws(ToolError) -> FieldText {
    guard field.isQuoted else { return FieldText(isDecoded: false, range: field.range) }
    let start = block.decoded.count
    try RowSplitter.decode(block.bytes(field.range), into: block.decoded)
    return FieldText(isDecoded: true, range: start..<block.decoded.count)
  }
}
