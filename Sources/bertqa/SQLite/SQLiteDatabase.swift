import BertQACore
import Glibc

/// An open database and its prepared statements.
final class SQLiteDatabase {
  enum Access {
    case read
    /// Creates the file if there is none.
    case write

    fileprivate var flags: Int32 { self == .read ? 1 : 2 | 4 }
  }

  let path: String
  fileprivate let library: SQLiteLibrary
  fileprivate let handle: SQLiteLibrary.Handle
  private var statements: [String: SQLiteStatement] = [:]
  private let deadline = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)

  /// How long a statement waits for another connection.
  private static let busyMilliseconds: Int32 = 10_000
  /// Steps of SQLite's virtual machine, which take microseconds at most.
  private static let stepsBetweenLooks: Int32 = 1000

  init(_ path: String, _ access: Access, for work: String) throws(ToolError) {
    self.path = path
    // SQLite has the same message for all reasons.
    if access == .read {
      var status = stat()
      guard stat(path, &status) == 0 else { throw Input.error(path, errno) }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw ToolError(.input, "\(path) is not a regular file")
      }
    }
    library = try SQLiteLibrary(for: work)
    var database: SQLiteLibrary.Handle?
    // SQLite takes names such as ":memory:" and "file:x" for others than those of files.
    let name = path.hasPrefix("/") ? path : "./\(path)"
    guard library.open(name, &database, access.flags, nil) == 0, let opened = database else {
      let reason = Self.message(library, database)
      _ = library.close(database)
      throw ToolError(.input, "cannot open \(path): \(reason)")
    }
    handle = opened
    _ = library.busyTimeout(handle, Self.busyMilliseconds)
  }

  deinit {
    for statement in statements.values { statement.finalize() }
    _ = library.close(handle)
    deadline.deallocate()
  }

  /// Makes statements that run at a time fail.
  /// - Parameter deadline: in nanoseconds on the monotonic clock; 0: never.
  func limit(deadline: UInt64) {
    self.deadline.pointee = deadline
    let isLate: SQLiteLibrary.Progress = { deadline in
      guard let deadline = deadline?.load(as: UInt64.self) else { return 0 }
      return UInt64(Clock.seconds() * 1e9) >= deadline ? 1 : 0
    }
    library.progressHandler(
      handle, deadline == 0 ? 0 : Self.stepsBetweenLooks, isLate, UnsafeMutableRawPointer(self.deadline))
  }

  /// Runs one or more statements without results.
  func run(_ sql: String) throws(ToolError) {
    guard library.execute(handle, sql, nil, nil, nil) == 0 else { throw failure() }
  }

  /// Calls `body` in a transaction, which a failure undoes.
  func transaction(
    _ begin: String = "BEGIN IMMEDIATE", _ body: () throws(ToolError) -> Void
  ) throws(ToolError) {
    try run(begin)
    do throws(ToolError) {
      try body()
      try run("COMMIT")
    } catch {
      _ = library.execute(handle, "ROLLBACK", nil, nil, nil)
      throw error
    }
  }

  /// The id of the row that was inserted last.
  var lastID: Int64 { library.lastID(handle) }

  /// Begins a statement, which is compiled once. It must not be running.
  func statement(_ sql: String, _ values: [SQLiteValue] = []) throws(ToolError) -> SQLiteStatement {
    let statement: SQLiteStatement
    if let known = statements[sql] {
      statement = known
    } else {
      statement = try SQLiteStatement(sql, self)
      statements[sql] = statement
    }
    try statement.begin(values)
    return statement
  }

  /// Runs a statement without results.
  func change(_ sql: String, _ values: [SQLiteValue] = []) throws(ToolError) {
    let statement = try statement(sql, values)
    while try statement.next() {}
  }

  /// Returns the integer in the first column of the first row; nil for no row or NULL.
  func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(ToolError) -> Int64? {
    let statement = try statement(sql, values)
    defer { statement.end() }
    return try statement.next() ? statement.integer(0) : nil
  }

  private func failure() -> ToolError { Self.failure(path, library, handle) }

  fileprivate static func failure(
    _ path: String, _ library: SQLiteLibrary, _ handle: SQLiteLibrary.Handle
  ) -> ToolError {
    // SQLITE_NOTADB, SQLITE_READONLY and SQLITE_CANTOPEN have only these texts.
    switch message(library, handle) {
    case "file is not a database":
      ToolError(.input, "\(path) is not a database: name a collection that 'bertqa index' made")
    case "attempt to write a readonly database" where !mayWrite(path),
      "unable to open database file" where !mayWrite(path):
      ToolError(
        .input,
        "\(path): SQLite must write beside it, and you may not: its owner opens it once, a collection with 'bertqa index'"
      )
    case let text: ToolError(.input, "\(path): SQLite: \(text)")
    }
  }

  /// True if files can be made and changed where the database is.
  private static func mayWrite(_ path: String) -> Bool {
    access(FilePath.split(path).directory, W_OK) == 0 && access(path, W_OK) == 0
  }

  private static func message(_ library: SQLiteLibrary, _ handle: SQLiteLibrary.Handle?) -> String {
    library.message(handle).map { String(cString: $0) } ?? "out of memory"
  }
}

/// A value of a statement's parameter. SQLite copies it.
enum SQLiteValue {
  case null
  case integer(Int64)
  case text([UInt8])
  case blob([UInt8])

  static func text(_ text: String) -> SQLiteValue { .text(Array(text.utf8)) }
}

/// A prepared statement: `begin`, then `next` for each row.
final class SQLiteStatement {
  private let library: SQLiteLibrary
  /// The database's path and handle, for messages. It finalizes its statements before it closes.
  private let path: String
  private let database: SQLiteLibrary.Handle
  private let handle: SQLiteLibrary.Handle

  private static let row: Int32 = 100
  private static let done: Int32 = 101
  private static let interrupted: Int32 = 9
  private static let utf8: UInt8 = 1
  private static let null: Int32 = 5

  fileprivate init(_ sql: String, _ database: SQLiteDatabase) throws(ToolError) {
    library = database.library
    path = database.path
    self.database = database.handle
    var statement: SQLiteLibrary.Handle?
    guard library.prepare(self.database, sql, -1, &statement, nil) == 0, let statement else {
      throw SQLiteDatabase.failure(path, library, self.database)
    }
    handle = statement
  }

  fileprivate func finalize() { _ = library.finalize(handle) }

  fileprivate func begin(_ values: [SQLiteValue]) throws(ToolError) {
    _ = library.reset(handle)
    // SQLITE_TRANSIENT: SQLite copies the value.
    let transient = UnsafeMutableRawPointer(bitPattern: -1)
    for (index, value) in values.enumerated() {
      let parameter = Int32(index + 1)
      let code =
        switch value {
        case .null: library.bindNull(handle, parameter)
        case .integer(let number): library.bindInteger(handle, parameter, number)
        // An empty array may have no address, which would be NULL.
        case .text(let bytes):
          (bytes + [0]).withUnsafeBytes {
            library.bindText(handle, parameter, $0.baseAddress, UInt64(bytes.count), transient, Self.utf8)
          }
        case .blob(let bytes):
          (bytes + [0]).withUnsafeBytes {
            library.bindBlob(handle, parameter, $0.baseAddress, UInt64(bytes.count), transient)
          }
        }
      guard code == 0 else { throw failure() }
    }
  }

  /// Moves to the next row; false at the end, after which the statement may begin again.
  func next() throws(ToolError) -> Bool {
    switch library.step(handle) {
    case Self.row: return true
    case Self.done:
      end()
      return false
    case Self.interrupted:
      end()
      throw ToolError.ofOneText(ToolError.tooLong)
    default:
      let failure = failure()
      end()
      throw failure
    }
  }

  /// Ends a statement before its last row.
  func end() { _ = library.reset(handle) }

  /// Returns nil for NULL.
  func integer(_ column: Int32) -> Int64? {
    isNull(column) ? nil : library.columnInteger(handle, column)
  }

  /// Returns 0 for NULL.
  func double(_ column: Int32) -> Double { library.columnDouble(handle, column) }

  /// Returns nil for NULL.
  func text(_ column: Int32) -> [UInt8]? {
    guard let start = library.columnText(handle, column) else { return nil }
    return Array(UnsafeRawBufferPointer(start: start, count: byteCount(column)))
  }

  func string(_ column: Int32) -> String? { text(column).map { String(decoding: $0, as: UTF8.self) } }

  /// Returns the bytes of a blob until the next row; empty for NULL.
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = library.columnBlob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: byteCount(column))
  }

  private func byteCount(_ column: Int32) -> Int { Int(library.columnByteCount(handle, column)) }

  private func failure() -> ToolError { SQLiteDatabase.failure(path, library, database) }

  private func isNull(_ column: Int32) -> Bool {
    library.columnType(handle, column) == Self.null
  }
}
