import BertQACore
import Glibc

/// A collection: an SQLite database of documents, their passages, words and vectors. docs/collections.md describes it;
/// `CollectionSQL` has the statements that all programs run on it.
final class PassageCollection {
  let database: SQLiteDatabase
  /// The writer's lock, which lasts as long as the descriptor is open.
  private let lock: Int32

  private init(_ database: SQLiteDatabase, lock: Int32) {
    self.database = database
    self.lock = lock
  }

  /// Takes a database that is open for reading; nil if it is not a collection.
  static func of(_ database: SQLiteDatabase) throws(ToolError) -> PassageCollection? {
    try check(database) ? PassageCollection(database, lock: -1) : nil
  }

  /// Opens a collection for reading.
  convenience init(reading path: String) throws(ToolError) {
    let database = try SQLiteDatabase(path, .read, for: "searching a collection")
    guard try Self.check(database) else { throw Self.foreign(path) }
    self.init(database, lock: -1)
  }

  /// Opens or creates a collection for writing, which one process at a time may do.
  convenience init(writing path: String) throws(ToolError) {
    let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard lock >= 0 || errno == EISDIR else {
      throw ToolError(.input, "cannot write \(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(lock, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ToolError(
        .input,
        "\(path) is not a regular file: the collection comes first, as in 'bertqa index notes.db notes'")
    }
    // Not with fcntl: SQLite releases all such locks of a process on the file.
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      throw Self.holder(of: status).map { FileWriting.inUse(path, $0) }
        ?? ToolError(.input, "\(path) is in use: another process is writing it")
    }
    let database = try SQLiteDatabase(path, .write, for: "a collection")
    // A run that was killed before its first transaction leaves a database without tables.
    var isNew = false
    // Of one state of the database: another program may make the collection meanwhile.
    try database.transaction("BEGIN") { () throws(ToolError) in
      isNew = try !Self.check(database)
      if isNew, try database.integer("SELECT count(*) FROM sqlite_master") != 0 { throw Self.foreign(path) }
    }
    // Readers continue while it is written, and a killed run leaves the last finished batch. Blocks of vectors are
    // read in half the time from large pages, which only a new database takes.
    try database.run(
      "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA recursive_triggers = OFF"
    )
    self.init(database, lock: lock)
    if isNew {
      try database.transaction { () throws(ToolError) in
        if try !Self.check(database) { try database.run(Self.sql(.create)) }
      }
    }
  }

  /// Returns the process that has locked a file with flock, which only the kernel's list of locks tells.
  private static func holder(of file: stat) -> pid_t? {
    guard let list = try? InputText(ArgumentText(literal: "/proc/locks"), InputText.Reading(isForced: true))
    else { return nil }
    let place = ":\(file.st_ino)"
    for line in list.lines {
      let words = String(decoding: line, as: UTF8.self).split(separator: " " as Character)
      // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
      if words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(place) { return pid_t(words[4]) }
    }
    return nil
  }

  /// Makes the database one file again. If somebody else has it open, it stays as it is.
  func finish() {
    do throws(ToolError) {
      try database.run("PRAGMA busy_timeout = 0; PRAGMA optimize; PRAGMA journal_mode = DELETE")
    } catch {}
  }

  deinit {
    if lock >= 0 { close(lock) }
  }

  /// Returns false for a database of another kind, and for one without tables.
  private static func check(_ database: SQLiteDatabase) throws(ToolError) -> Bool {
    guard try database.integer("PRAGMA application_id") == Int64(CollectionSQL.applicationID) else {
      return false
    }
    let version = try database.integer("PRAGMA user_version") ?? 0
    guard version == Int64(CollectionSQL.version) else {
      throw ToolError(
        .input,
        "\(database.path) is a collection of version \(version), but this bertqa reads version \(CollectionSQL.version): "
          + "index its files again")
    }
    guard try database.integer(Self.sql(.check), [.text(Self.sql(.create))]) == 1 else {
      throw ToolError(
        .input,
        "\(database.path): its tables and triggers are not those of a collection: index the files into a new one"
      )
    }
    return true
  }

  private static func foreign(_ path: String) -> ToolError {
    ToolError(.input, "\(path) is an SQLite database, but not a collection: 'bertqa index' makes one")
  }

  static func sql(_ statement: CollectionSQL) -> String { statement.text.description }

  // MARK: - Models

  /// The model of the vectors; nil if the collection has none.
  func model() throws(ToolError) -> (fingerprint: [UInt8], length: Int)? {
    let statement = try database.statement(Self.sql(.model))
    defer { statement.end() }
    guard try statement.next(), let length = statement.integer(1) else { return nil }
    return (Array(statement.blob(0)), Int(length))
  }

  /// Loads the embedding model; nil if the collection has no vectors.
  func embedder(_ choice: ModelChoice) throws(ToolError) -> Context? {
    try model() == nil ? nil : try choice.load()
  }

  // MARK: - Searching

  /// A passage that a search found.
  struct Hit {
    let score: Double
    let passage: CollectionPassage
  }

  /// Finds passages by the words of a question and, if the collection has vectors, by its meaning.
  /// - Parameters:
  ///   - embedder: the embedding model; nil: by words only.
  func search(
    _ question: [UInt8], count: Int, _ filter: DocumentFilter, _ embedder: Context?, command: String,
    call: CallOptions = CallOptions()
  ) throws(ToolError) -> (search: PassageSearch, hits: [Hit]) {
    let search = try begin(question, embedder, command, call)
    var hits: [Hit] = []
    // Of one state of the collection, which others may change meanwhile.
    try database.transaction("BEGIN") { () throws(ToolError) in
      guard try allow(filter, in: search) else { return }
      try setWords(of: search)
      if search.vectorLength > 0 { try addVectors(to: search) }
      for hit in search.best(count) { hits.append(Hit(score: hit.score, passage: try passage(hit.id))) }
    }
    return (search, hits)
  }

  private func begin(
    _ question: [UInt8], _ embedder: Context?, _ command: String, _ call: CallOptions
  ) throws(ToolError) -> PassageSearch {
    let model = try model()
    return try question.withElements { question throws(ToolError) in
      try (model?.fingerprint ?? []).withElements { fingerprint throws(ToolError) in
        try ofCore(command) { () throws(BertQAError) in
          guard model != nil, let embedder else { return try PassageSearch(question: question, call: call) }
          return try embedder.search(question: question, fingerprint: fingerprint, call: call)
        }
      }
    }
  }

  /// What does not belong into a collection's tables.
  private func damage(_ what: String) -> ToolError {
    ToolError(.input, "\(database.path): \(what): index it again")
  }

  /// Passes what the tables have to a search.
  private func pass(_ what: String, _ body: () throws(BertQAError) -> Void) throws(ToolError) {
    do throws(BertQAError) {
      try body()
    } catch {
      throw error.status == .invalidArgument
        ? damage("\(what): \(error.messageForTool)") : ToolError(.resources, error.messageForTool)
    }
  }

  /// Restricts a search to the passages of some documents. Returns false if there are none.
  private func allow(_ filter: DocumentFilter, in search: PassageSearch) throws(ToolError) -> Bool {
    if filter.isEmpty { return true }
    let allowed = try database.statement(Self.sql(.allowed), filter.values)
    var isAny = false
    while try allowed.next() {
      let (first, last) = (allowed.integer(0) ?? 0, allowed.integer(1) ?? 0)
      try pass("the passages of a document") { () throws(BertQAError) in
        try search.allow(first: first, last: last)
      }
      isAny = true
    }
    return isAny
  }

  private func setWords(of search: PassageSearch) throws(ToolError) {
    let rows = try database.statement(
      Self.sql(.words), [.text(search.query), .integer(search.vectorLength == 0 ? 1 : 0)])
    var (ids, words, scores): ([Int64], [Int32], [Double]) = ([], [], [])
    while try rows.next() {
      ids.append(rows.integer(0) ?? 0)
      words.append(Int32(truncatingIfNeeded: rows.integer(1) ?? 0))
      scores.append(rows.double(2))
    }
    try pass("the words") { () throws(BertQAError) in
      try ids.withElements { ids throws(BertQAError) in
        try words.withElements { words throws(BertQAError) in
          try scores.withElements { scores throws(BertQAError) in
            guard let base = ids.baseAddress, let words = words.baseAddress else { return }
            try search.setWords(ids: base, words: words, scores: scores.baseAddress, count: ids.count)
          }
        }
      }
    }
  }

  private func addVectors(to search: PassageSearch) throws(ToolError) {
    let vectors = try database.statement(Self.sql(.vectors))
    defer { vectors.end() }
    while try vectors.next() {
      let first = vectors.integer(0) ?? 0
      let count = Int(vectors.integer(1) ?? 0)
      let rows = vectors.blob(2)
      let scales = vectors.blob(3)
      guard count >= 0, count <= rows.count, rows.count == count * search.vectorLength,
        scales.count == count * MemoryLayout<Float>.size
      else {
        throw damage("the vectors from passage \(first) on do not fit")
      }
      guard let rowBase = rows.baseAddress, let scaleBase = scales.baseAddress else { continue }
      try pass("the vectors from passage \(first) on") { () throws(BertQAError) in
        // Blobs have no alignment.
        let copy = [Float](unsafeUninitializedCapacity: count) { target, initialized in
          UnsafeMutableRawBufferPointer(target).copyMemory(
            from: UnsafeRawBufferPointer(start: scaleBase, count: scales.count))
          initialized = count
        }
        try copy.withElements { scales throws(BertQAError) in
          guard let scales = scales.baseAddress else { return }
          try search.addVectors(
            first: first, count: count, rows: rowBase.assumingMemoryBound(to: Int8.self), scales: scales)
        }
      }
    }
  }

  private func passage(_ id: Int64) throws(ToolError) -> CollectionPassage {
    let row = try database.statement(Self.sql(.passage), [.integer(id)])
    defer { row.end() }
    guard try row.next(), let text = row.text(0), let start = row.integer(1),
      CollectionPassage.places.contains(start),
      row.integer(3).map({ CollectionPassage.places.contains($0) }) ?? true
    else { throw damage("passage \(id) is missing or has no place") }
    return CollectionPassage(
      text: text, start: Int(start), line: row.integer(3).map { Int($0) }, path: row.string(4),
      name: row.string(5), title: row.string(6))
  }
}

/// A passage with its place.
struct CollectionPassage {
  let text: [UInt8]
  /// Its first byte in the document.
  let start: Int
  /// Its first line in a file of text, from 1.
  let line: Int?
  let path: String?
  /// That of a record, or the one that a program gave.
  let name: String?
  let title: String?

  /// The places in documents, which programs write that open the database themselves.
  static let places = 0...Int64(Int32.max)

  /// "notes/lease.txt:12", "mail.jsonl: 17", or the document's name.
  /// - Parameter byte: a byte of the passage.
  func place(ofByte byte: Int) -> String {
    let parts = [path.map { path in self.line(ofByte: byte).map { "\(path):\($0)" } ?? path }, name]
    return parts.compactMap { $0 }.joined(separator: ": ")
  }

  func line(ofByte byte: Int) -> Int? {
    line.map { $0 + text.prefix(byte).count { $0 == UInt8(ascii: "\n") } }
  }

  /// Writes the members of an object that tell the place.
  func writePlace(ofByte byte: Int, to writer: inout JSONWriter) {
    writer.optional("file", path?.utf8)
    writer.optional("name", name?.utf8)
    writer.optional("title", title?.utf8)
    writer.key("line")
    if let line = line(ofByte: byte) { writer.integer(line) } else { writer.null() }
  }
}
