import Glibc

/// Where records go: standard output or a file. Written at once where somebody may wait for them, else
/// gathered for a second or a mebibyte.
final class OutputStream {
  enum Mode {
    /// Empties the file first.
    case overwrite
    case append
    /// Keeps this many of its bytes.
    case resume(Int)
  }

  let shown: String
  let descriptor: Int32
  let isRegularFile: Bool
  /// To be filled by the caller.
  var buffer: [UInt8] = []
  /// Bytes of the file that are written; of a stream, those written by this process.
  private(set) var length: Int
  /// Whether nobody reads it any more.
  private(set) var isClosed = false
  /// When the oldest byte of the buffer was put there.
  private var gatheredSince: Double?

  private static let largest = 1 << 20
  private static let oldest = 1.0

  /// Standard output.
  init() {
    shown = "standard output"
    descriptor = STDOUT_FILENO
    var status = stat()
    isRegularFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    length = 0
  }

  init(path: ArgumentText, _ mode: Mode) throws(ToolError) {
    shown = path.string
    descriptor = open(path.pointer, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw FileWriting.failed(shown, errno) }
    isRegularFile = status.st_mode & S_IFMT == S_IFREG
    length = 0
    guard isRegularFile else { return }
    let size = Int(status.st_size)
    switch mode {
    case .overwrite: break
    case .append: length = size
    case .resume(let recorded):
      guard recorded <= size else {
        throw ToolError(
          .input, "\(shown) has \(size) bytes, but the checkpoint says \(recorded): it was changed meanwhile")
      }
      length = recorded
    }
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(length) else {
      throw FileWriting.failed(shown, errno)
    }
  }

  /// To be called behind each batch of records.
  func flushIfDue() throws(ToolError) {
    guard !buffer.isEmpty else { return }
    let now = Clock.seconds()
    let since = gatheredSince ?? now
    gatheredSince = since
    if !isRegularFile || buffer.count >= Self.largest || now - since >= Self.oldest { try flush() }
  }

  func flush() throws(ToolError) {
    guard !buffer.isEmpty else { return }
    let number = buffer.withUnsafeBytes { FileWriting.write($0, to: descriptor) }
    guard number == 0 else {
      buffer.removeAll()
      isClosed = number == EPIPE
      // Whoever read the output has seen enough: no news to anybody.
      if isClosed { throw ToolError(.resources, "") }
      throw FileWriting.failed(shown, number)
    }
    length += buffer.count
    buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.largest)
    gatheredSince = nil
  }

  /// Has what was written on the disk.
  func sync() throws(ToolError) {
    guard fdatasync(descriptor) == 0 else { throw FileWriting.failed(shown, errno) }
  }

  /// Closes, as some file systems report a full disk only then. Standard output is closed by the tool.
  func finish() throws(ToolError) {
    try flush()
    if descriptor != STDOUT_FILENO, close(descriptor) != 0 { throw FileWriting.failed(shown, errno) }
  }
}
