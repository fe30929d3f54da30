import Glibc

/// SQLite's functions. The library is opened on demand, so that the tool runs without it.
struct SQLiteLibrary {
  typealias Handle = OpaquePointer
  typealias Bytes = UnsafeRawPointer

  typealias Open =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafeMutablePointer<Handle?>?, Int32, UnsafePointer<CChar>?
    ) -> Int32
  typealias OfHandle = @convention(c) (Handle?) -> Int32
  typealias Prepare =
    @convention(c) (
      Handle?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<Handle?>?,
      UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) -> Int32
  typealias Execute =
    @convention(c) (
      Handle?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?,
      UnsafeMutableRawPointer?
    ) -> Int32
  typealias BindBytes =
    @convention(c) (Handle?, Int32, Bytes?, UInt64, UnsafeMutableRawPointer?) -> Int32
  typealias BindText =
    @convention(c) (Handle?, Int32, Bytes?, UInt64, UnsafeMutableRawPointer?, UInt8) -> Int32
  typealias BindInteger = @convention(c) (Handle?, Int32, Int64) -> Int32
  typealias OfColumn = @convention(c) (Handle?, Int32) -> Int32
  typealias ColumnInteger = @convention(c) (Handle?, Int32) -> Int64
  typealias ColumnDouble = @convention(c) (Handle?, Int32) -> Double
  typealias ColumnBytes = @convention(c) (Handle?, Int32) -> Bytes?
  typealias Progress = @convention(c) (UnsafeMutableRawPointer?) -> Int32
  typealias ProgressHandler =
    @convention(c) (Handle?, Int32, Progress?, UnsafeMutableRawPointer?) -> Void
  typealias Message = @convention(c) (Handle?) -> UnsafePointer<CChar>?
  typealias Integer = @convention(c) (Handle?) -> Int64

  let open: Open
  let close: OfHandle
  let busyTimeout: OfColumn
  let progressHandler: ProgressHandler
  let execute: Execute
  let lastID: Integer
  let message: Message
  let prepare: Prepare
  let finalize: OfHandle
  let step: OfHandle
  let reset: OfHandle
  let bindText: BindText
  let bindBlob: BindBytes
  let bindInteger: BindInteger
  let bindNull: OfColumn
  let columnType: OfColumn
  let columnInteger: ColumnInteger
  let columnDouble: ColumnDouble
  let columnText: ColumnBytes
  let columnBlob: ColumnBytes
  let columnByteCount: OfColumn

  /// - Parameter work: what needs SQLite: "asking a database".
  init(for work: String) throws(ToolError) {
    let sqlite = try SharedLibrary(
      "libsqlite3.so.0", for: work, library: "SQLite's library, libsqlite3.so.0", package: "libsqlite3-0")
    open = try sqlite.function("sqlite3_open_v2")
    close = try sqlite.function("sqlite3_close")
    busyTimeout = try sqlite.function("sqlite3_busy_timeout")
    progressHandler = try sqlite.function("sqlite3_progress_handler")
    execute = try sqlite.function("sqlite3_exec")
    lastID = try sqlite.function("sqlite3_last_insert_rowid")
    message = try sqlite.function("sqlite3_errmsg")
    prepare = try sqlite.function("sqlite3_prepare_v2")
    finalize = try sqlite.function("sqlite3_finalize")
    step = try sqlite.function("sqlite3_step")
    reset = try sqlite.function("sqlite3_reset")
    bindText = try sqlite.function("sqlite3_bind_text64")
    bindBlob = try sqlite.function("sqlite3_bind_blob64")
    bindInteger = try sqlite.function("sqlite3_bind_int64")
    bindNull = try sqlite.function("sqlite3_bind_null")
    columnType = try sqlite.function("sqlite3_column_type")
    columnInteger = try sqlite.function("sqlite3_column_int64")
    columnDouble = try sqlite.function("sqlite3_column_double")
    columnText = try sqlite.function("sqlite3_column_text")
    columnBlob = try sqlite.function("sqlite3_column_blob")
    columnByteCount = try sqlite.function("sqlite3_column_bytes")
  }
}
