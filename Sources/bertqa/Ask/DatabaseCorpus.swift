import BertQACore
import Glibc

/// The records of an SQLite database with a full-text index (FTS5). For a question it returns the best by BM25 that
/// contain any of its words, each indexed column as a text of its own; docs/sql.md describes the database.
final class DatabaseCorpus: Corpus {
  private let database: SQLiteDatabase
  private let table: String
  /// The columns that are indexed.
  private let columns: [String]
  /// The number of records that are read for a question.
  private let passageCount: Int

  let hasSeveralTexts = true

  /// - Parameter table: the index; nil selects the only one, or the one called "documents".
  init(_ database: SQLiteDatabase, table: String?, passageCount: Int) throws(ToolError) {
    self.database = database
    self.passageCount = passageCount
    let (name, definition) = try Self.table(table, database)
    self.table = name
    columns = Self.indexedColumns(
      try Self.strings("SELECT name FROM pragma_table_info(?1)", [.text(name)], database), definition)
    try requireTexts()
  }

  /// True if the file begins like an SQLite database.
  static func isDatabase(_ file: ArgumentText) -> Bool {
    let start = Array("SQLite format 3\0".utf8)
    var status = stat()
    guard stat(file.pointer, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let input = try? Input(file)
    else {
      return false
    }
    var bytes = [UInt8](repeating: 0, count: start.count)
    let count = bytes.withUnsafeMutableBytes { (try? input.read(into: $0)) ?? 0 }
    return count == start.count && bytes == start
  }

  private static func strings(
    _ sql: String, _ values: [SQLiteValue] = [], _ database: SQLiteDatabase
  ) throws(ToolError) -> [String] {
    let rows = try database.statement(sql, values)
    var strings: [String] = []
    while try rows.next() { strings.append(rows.string(0) ?? "") }
    return strings
  }

  /// Returns the name of an index, and the SQL that made it.
  private static func table(
    _ wanted: String?, _ database: SQLiteDatabase
  ) throws(ToolError) -> (name: String, definition: String) {
    let path = database.path
    let isIndex = "FROM sqlite_master WHERE type = 'table' AND sql LIKE 'create virtual table%using%fts5%'"
    let names = try strings("SELECT name \(isIndex) ORDER BY name", [], database)
    func found(_ name: String) throws(ToolError) -> (String, String) {
      (name, try strings("SELECT sql \(isIndex) AND name = ?1", [.text(name)], database).first ?? "")
    }
    if let wanted {
      if names.contains(wanted) { return try found(wanted) }
      throw ToolError(
        .input, "\(path) has no full-text index '\(wanted)'\(names.isEmpty ? "" : "; it has \(list(names))")")
    }
    if let name = names.first, names.count == 1 { return try found(name) }
    if names.contains("documents") { return try found("documents") }
    if names.isEmpty {
      throw ToolError(
        .input,
        "\(path) has no full-text index: make one with CREATE VIRTUAL TABLE documents USING fts5(body, "
          + "content='TABLE', tokenize='porter') and INSERT INTO documents(documents) VALUES ('rebuild')")
    }
    throw ToolError(.input, "\(path) has several full-text indexes: choose one with --table: \(list(names))")
  }

  /// Returns the columns that a definition does not mark UNINDEXED: those have ids and the like, which nobody asks for.
  static func indexedColumns(_ columns: [String], _ definition: String) -> [String] {
    // The columns are the first arguments, in order.
    let arguments = Self.arguments(definition)
    return columns.enumerated().filter { index, _ in
      guard index < arguments.count else { return true }
      let words = arguments[index].uppercased().split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
      return words.count < 2 || words.last != "UNINDEXED"
    }.map(\.element)
  }

  /// Returns the arguments of USING fts5(...) that are columns, as spelled, without comments.
  private static func arguments(_ definition: String) -> [String] {
    var arguments: [String] = []
    var current = String.UnicodeScalarView()
    var quote: Unicode.Scalar?
    var isInside = false
    // The last scalar of a comment.
    var commentEnd: Unicode.Scalar?
    var previous: Unicode.Scalar = " "
    for scalar in definition.unicodeScalars {
      if let end = commentEnd {
        let isEnd = scalar == end && (end == "\n" || previous == "*")
        if isEnd { commentEnd = nil }
        previous = isEnd ? " " : scalar
        continue
      }
      if quote == nil, (previous, scalar) == ("-", "-") || (previous, scalar) == ("/", "*") {
        commentEnd = scalar == "*" ? "/" : "\n"
        current.removeLast()
        continue
      }
      previous = scalar
      if let open = quote {
        if scalar == open { quote = nil }
      } else {
        switch scalar {
        case "'", "\"", "`": quote = scalar
        case "[": quote = "]"
        case "(" where !isInside:
          isInside = true
          current.removeAll()
          continue
        case "," where isInside:
          arguments.append(String(current))
          current.removeAll()
          continue
        case ")" where isInside:
          arguments.append(String(current))
          return arguments.filter { !isOption($0) }
        default: break
        }
      }
      current.append(scalar)
    }
    return arguments.filter { !isOption($0) }
  }

  /// True for name = value.
  private static func isOption(_ argument: String) -> Bool {
    let name = argument.drop { $0.isWhitespace }.prefix { $0.isLetter || $0 == "_" }
    return argument.drop { $0.isWhitespace }.dropFirst(name.count).drop { $0.isWhitespace }.first == "="
  }

  /// Rejects an index that has entries but no stored texts. Other errors show up with the first question.
  private func requireTexts() throws(ToolError) {
    let isText = columns.map { "\(Self.quoted($0)) IS NOT NULL" }.joined(separator: " OR ")
    let entries = "SELECT 1 FROM \(Self.quoted(table))"
    func isThere(_ sql: String) -> Bool? {
      do throws(ToolError) { return try database.integer(sql) != nil } catch { return nil }
    }
    if isThere("\(entries) WHERE \(isText) LIMIT 1") == false, isThere("\(entries) LIMIT 1") == true {
      throw withoutTexts()
    }
  }

  private func withoutTexts() -> ToolError {
    ToolError(
      .input,
      "\(database.path): the full-text index '\(table)' has no texts to read, as one with content='' has none: make one "
        + "that reads them from their table, with content='TABLE' and content_rowid='ID', and fill it with INSERT INTO "
        + "NAME(NAME) VALUES ('rebuild')")
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

  func texts(for question: [UInt8], _ call: CallOptions) throws(ToolError) -> AskedTexts {
    database.limit(deadline: call.deadline)
    let query = try question.withElements { question throws(ToolError) in
      try ofCore(AskCommand.invocation) { () throws(BertQAError) in
        try FullTextQuery.matching(question, call: call)
      }
    }
    let selected = columns.map(Self.quoted).joined(separator: ", ")
    let rows = try database.statement(
      "SELECT rowid, \(selected) FROM \(Self.quoted(table)) WHERE \(Self.quoted(table)) MATCH ?1 "
        + "ORDER BY rank LIMIT \(passageCount)", [.text(query)])
    var texts: [AskedText] = []
    var hasRows = false
    while try rows.next() {
      hasRows = true
      let id = rows.string(0) ?? ""
      for (index, column) in columns.enumerated() {
        guard let text = rows.text(Int32(index + 1)) else { continue }
        let name = "\(database.path), \(table) \(id)\(columns.count > 1 ? ", \(column)" : "")"
        texts.append(AskedText(name: name, try InputText(copying: text)))
      }
    }
    // A record that matches has a word, so at least one column must have text.
    guard !hasRows || !texts.isEmpty else { throw withoutTexts() }
    return AskedTexts(texts: texts)
  }

  private static func quoted(_ name: String) -> String {
    "\"\(PlainText.replacing("\"", in: name, by: "\"\""))\""
  }
}
