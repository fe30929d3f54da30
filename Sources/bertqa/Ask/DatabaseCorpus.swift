import BertQACore
import Glibc

/// The passages of an SQLite database with a full-text index (FTS5). For a question it returns the best
/// passages by BM25 that contain any of its words; docs/sql.md describes the database.
final class DatabaseCorpus: Corpus {
  private let library: SQLiteLibrary
  private let database: SQLiteLibrary.Handle
  private let path: String
  private let table: String
  private let columns: [String]
  /// The number of passages that are read for a question.
  private let passageCount: Int

  let hasSeveralTexts = true

  /// - Parameter table: the index; nil selects the only one, or the one called "documents".
  init(path: String, table: String?, passageCount: Int) throws(ToolError) {
    library = try SQLiteLibrary()
    database = try library.database(path)
    self.path = path
    self.passageCount = passageCount
    do throws(ToolError) {
      self.table = try Self.table(table, path, library, database)
      columns = try library.rows("SELECT name FROM pragma_table_info(?1)", [self.table], of: database)
        .compactMap { row in row.first?.map { String(decoding: $0, as: UTF8.self) } }
      try Self.requireTexts(of: self.table, columns, path, library, database)
    } catch {
      library.close(database: database)
      throw error
    }
  }

  deinit { library.close(database: database) }

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

  private static func table(
    _ wanted: String?, _ path: String, _ library: SQLiteLibrary, _ database: SQLiteLibrary.Handle
  ) throws(ToolError) -> String {
    let rows = try library.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'create virtual table%using%fts5%' "
        + "ORDER BY name", [], of: database)
    let names = rows.compactMap { row in row.first?.map { String(decoding: $0, as: UTF8.self) } }
    if let wanted {
      if names.contains(wanted) { return wanted }
      throw ToolError(
        .input, "\(path) has no full-text index '\(wanted)'\(names.isEmpty ? "" : "; it has \(list(names))")")
    }
    if let name = names.first, names.count == 1 { return name }
    if names.contains("documents") { return "documents" }
    if names.isEmpty {
      throw ToolError(
        .input,
        "\(path) has no full-text index: make one with CREATE VIRTUAL TABLE documents USING fts5(body, "
          + "content='TABLE', tokenize='porter') and INSERT INTO documents(documents) VALUES ('rebuild')")
    }
    throw ToolError(.input, "\(path) has several full-text indexes: choose one with --table: \(list(names))")
  }

  /// Rejects an index that has entries but no stored texts. Other errors show up with the first question.
  private static func requireTexts(
    of table: String, _ columns: [String], _ path: String, _ library: SQLiteLibrary,
    _ database: SQLiteLibrary.Handle
  ) throws(ToolError) {
    let isText = columns.map { "\(quoted($0)) IS NOT NULL" }.joined(separator: " OR ")
    let entries = "SELECT 1 FROM \(quoted(table))"
    guard let texts = try? library.rows("\(entries) WHERE \(isText) LIMIT 1", [], of: database),
      texts.isEmpty,
      let first = try? library.rows("\(entries) LIMIT 1", [], of: database), !first.isEmpty
    else { return }
    throw withoutTexts(path, table)
  }

  private static func withoutTexts(_ path: String, _ table: String) -> ToolError {
    ToolError(
      .input,
      "\(path): the full-text index '\(table)' has no texts to read, as one with content='' has none: make one that "
        + "reads them from their table, with content='TABLE' and content_rowid='ID', and fill it with INSERT INTO "
        + "NAME(NAME) VALUES ('rebuild')")
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

  func texts(for question: String) throws(ToolError) -> [AskedText] {
    guard let query = Self.query(question) else { return [] }
    let selected = columns.map(Self.quoted).joined(separator: ", ")
    let rows = try library.rows(
      "SELECT rowid, \(selected) FROM \(Self.quoted(table)) WHERE \(Self.quoted(table)) MATCH ?1 "
        + "ORDER BY rank LIMIT \(passageCount)", [query], of: database)
    // A passage that matches has a word, so at least one column must have text.
    guard rows.isEmpty || rows.contains(where: { $0.dropFirst().contains { $0 != nil } }) else {
      throw Self.withoutTexts(path, table)
    }
    return rows.map { row in
      let id = String(decoding: (row.first ?? nil) ?? [], as: UTF8.self)
      // A blank line ends a sentence, so that no answer spans columns.
      let text = row.dropFirst().compactMap { $0 }.joined(separator: Array("\n\n".utf8))
      return AskedText(name: "\(path), \(table) \(id)", InputText(copying: Array(text)))
    }
  }

  /// Returns an FTS5 query that matches any of the question's words, quoted so that none acts as an operator,
  /// like `bertqa_match` of the SQLite extension. Common words are left out unless there are no others.
  /// Returns nil if there is no word.
  static func query(_ question: String) -> String? {
    let words = question.unicodeScalars.split { scalar in
      scalar.value < 0x80 && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
    }.map { String($0) }
    guard !words.isEmpty else { return nil }
    let telling = words.filter { !commonWords.contains($0.lowercased()) }
    return (telling.isEmpty ? words : telling).map { "\"\($0)\"" }.joined(separator: " OR ")
  }

  /// English words that occur in most texts: they distinguish little and are the most expensive to search.
  private static let commonWords: Set<String> = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can",
    "could", "did", "do", "does", "during", "for", "from", "had", "has", "have", "he", "her", "his", "how",
    "if", "in", "into", "is", "it", "its", "many", "may", "more", "most", "much", "not", "of", "on", "or",
    "other", "s", "she", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose",
    "why", "will", "with", "would", "you", "your",
  ]

  private static func quoted(_ name: String) -> String {
    "\"\(name.split(separator: "\"" as Character, omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }
}
