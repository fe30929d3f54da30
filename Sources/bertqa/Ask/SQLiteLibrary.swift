import Glibc

/// SQLite for 'bertqa ask DB'. The library is opened on demand, so that the tool runs without it.
final class SQLiteLibrary {
  typealias Handle = OpaquePointer

  private typealias Open =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafeMutablePointer<Handle?>?, Int32, UnsafePointer<CChar>?
    ) -> Int32
  private typealias OfHandle = @convention(c) (Handle?) -> Int32
  private typealias Prepare =
    @convention(c) (
      Handle?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<Handle?>?,
      UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Int32
  private typealias BindText =
    @convention(c) (
      Handle?, Int32, UnsafePointer<CChar>?, Int32, UnsafeMutableRawPointer?
    ) -> Int32
  private typealias ColumnText = @convention(c) (Handle?, Int32) -> UnsafePointer<UInt8>?
  private typealias ColumnNumber = @convention(c) (Handle?, Int32) -> Int32
  private typealias Message = @convention(c) (Handle?) -> UnsafePointer<CChar>?

  private let open: Open
  private let close: OfHandle
  private let prepare: Prepare
  private let bindText: BindText
  private let step: OfHandle
  private let finalize: OfHandle
  private let columnCount: OfHandle
  private let columnText: ColumnText
  private let columnBytes: ColumnNumber
  private let message: Message

  private static let row: Int32 = 100
  private static let done: Int32 = 101
  private static let openReadOnly: Int32 = 1

  init() throws(ToolError) {
    guard let sqlite = try? SharedLibrary("libsqlite3.so.0") else {
      throw ToolError(
        .input,
        "asking a database needs SQLite's library, libsqlite3.so.0, which is not there: install it (on Debian the "
          + "package libsqlite3-0), or give text files")
    }
    open = try sqlite.function("sqlite3_open_v2", as: Open.self)
    close = try sqlite.function("sqlite3_close", as: OfHandle.self)
    prepare = try sqlite.function("sqlite3_prepare_v2", as: Prepare.self)
    bindText = try sqlite.function("sqlite3_bind_text", as: BindText.self)
    step = try sqlite.function("sqlite3_step", as: OfHandle.self)
    finalize = try sqlite.function("sqlite3_finalize", as: OfHandle.self)
    columnCount = try sqlite.function("sqlite3_column_count", as: OfHandle.self)
    columnText = try sqlite.function("sqlite3_column_text", as: ColumnText.self)
    columnBytes = try sqlite.function("sqlite3_column_bytes", as: ColumnNumber.self)
    message = try sqlite.function("sqlite3_errmsg", as: Message.self)
  }

  /// Opens a database read-only.
  func database(_ path: String) throws(ToolError) -> Handle {
    var database: Handle?
    guard open(path, &database, Self.openReadOnly, nil) == 0, let opened = database else {
      let reason = text(of: database)
      _ = close(database)
      throw ToolError(.input, "cannot read \(path): \(reason)")
    }
    return opened
  }

  func close(database: Handle) { _ = close(database) }

  /// Returns the rows of a query with text columns; NULL is nil.
  func rows(_ sql: String, _ values: [String], of database: Handle) throws(ToolError) -> [[[UInt8]?]] {
    var statement: Handle?
    guard prepare(database, sql, -1, &statement, nil) == 0, let statement else {
      throw ToolError(.input, "SQLite: \(text(of: database))")
    }
    defer { _ = finalize(statement) }
    // SQLITE_TRANSIENT: SQLite copies the value.
    let transient = UnsafeMutableRawPointer(bitPattern: -1)
    for (index, value) in values.enumerated() {
      _ = bindText(statement, Int32(index + 1), value, Int32(value.utf8.count), transient)
    }
    var rows: [[[UInt8]?]] = []
    while true {
      let code = step(statement)
      if code == Self.done { return rows }
      guard code == Self.row else { throw ToolError(.input, "SQLite: \(text(of: database))") }
      rows.append(
        (0..<columnCount(statement)).map { column in
          guard let start = columnText(statement, column) else { return nil }
          return Array(UnsafeBufferPointer(start: start, count: Int(columnBytes(statement, column))))
        })
    }
  }

  private func text(of database: Handle?) -> String {
    message(database).map { String(cString: $0) } ?? "out of memory"
  }
}
