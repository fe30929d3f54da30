import Glibc

/// Where records go: standard output or a file. Written at once where somebody may wait for them, else
/// gathered for a second or a mebibyte. A file is not changed before the first record, or the end, is there.
final class RecordOutput {
  let shown: String
  let descriptor: Int32
  let isRegularFile: Bool
  /// To be filled by the caller.
  var buffer: [UInt8] = []
  /// Bytes of the file that are written; of a stream, those written by this process.
  private(set) var length = 0
  /// Of these bytes, where a checkpoint will want to know.
  private(set) var hash: ContentHash?
  /// Whether nobody reads it any more.
  private(set) var isClosed = false
  /// When the oldest byte of the buffer was put there.
  private var gatheredSince: Double?
  /// Whether what the file had before is cut off already.
  private var hasBegun = true
  /// Whether the file was made here.
  private var isNew = false
  /// What compresses the bytes, as the file's name asks for.
  private var encoder: (any StreamEncoder)?
  /// Whether a member or frame of the compressed file has begun.
  private var isInMember = false

  private static let largest = 1 << 20
  private static let oldest = 1.0

  /// Standard output.
  init() {
    shown = "standard output"
    descriptor = STDOUT_FILENO
    var status = stat()
    isRegularFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// A file, from its beginning.
  /// - Parameter isHashed: whether its bytes are hashed, which needs leave to read it.
  init(path: ArgumentText, isHashed: Bool) throws(ToolError) {
    shown = path.string
    encoder = try Compression(fileName: shown)?.makeEncoder(for: shown)
    let mode = (isHashed ? O_RDWR : O_WRONLY) | O_CLOEXEC
    var opened = open(path.pointer, mode)
    if opened < 0, errno == ENOENT {
      opened = open(path.pointer, mode | O_CREAT, 0o666)
      isNew = opened >= 0
    }
    descriptor = opened
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw FileWriting.failed(shown, errno) }
    isRegularFile = status.st_mode & S_IFMT == S_IFREG
    hash = isHashed ? ContentHash() : nil
    hasBegun = !isRegularFile
  }

  /// Bytes that the file has now.
  var currentSize: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Goes on behind the first `length` bytes of the file, which have this hash.
  func resume(length: Int, hash: ContentHash) {
    self.length = length
    self.hash = hash
  }

  /// Cuts the file to what is to stay of it.
  private func begin() throws(ToolError) {
    guard !hasBegun else { return }
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(length) else {
      throw FileWriting.failed(shown, errno)
    }
    hasBegun = true
  }

  /// To be called behind each batch of records.
  func flushIfDue() throws(ToolError) {
    guard !buffer.isEmpty else { return }
    let now = Clock.seconds()
    let since = gatheredSince ?? now
    gatheredSince = since
    if !isRegularFile || buffer.count >= Self.largest || now - since >= Self.oldest { try flush() }
  }

  func flush() throws(ToolError) { try flush(endsMember: false) }

  /// - Parameter endsMember: whether a compressed file may be cut behind this, or end.
  private func flush(endsMember: Bool) throws(ToolError) {
    guard !buffer.isEmpty || endsMember && isInMember else { return }
    try begin()
    if let encoder {
      var compressed: [UInt8] = []
      try buffer.withElements { bytes throws(ToolError) in
        try encoder.encode(UnsafeRawBufferPointer(bytes), isLast: endsMember, to: &compressed)
      }
      isInMember = !endsMember
      buffer = compressed
    }
    let number = buffer.withUnsafeBytes { FileWriting.write($0, to: descriptor) }
    guard number == 0 else {
      buffer.removeAll()
      isClosed = number == EPIPE
      // Whoever read the output has seen enough: no news to anybody.
      if isClosed { throw ToolError(.resources, "") }
      throw FileWriting.failed(shown, number)
    }
    length += buffer.count
    buffer.withUnsafeBytes { hash?.update($0) }
    buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.largest)
    gatheredSince = nil
  }

  /// Has what was written on the disk.
  func sync() throws(ToolError) {
    try begin()
    try flush(endsMember: true)
    guard fdatasync(descriptor) == 0 else { throw FileWriting.failed(shown, errno) }
  }

  /// Closes, as some file systems report a full disk only then. Standard output is closed by the tool.
  func finish() throws(ToolError) {
    try begin()
    // A compressed file without bytes is none: nothing is a member, too.
    if encoder != nil, length == 0 { isInMember = true }
    try flush(endsMember: true)
    if descriptor != STDOUT_FILENO, close(descriptor) != 0 { throw FileWriting.failed(shown, errno) }
  }

  /// For a run that has failed: what is compressed gets its end, and a file that was made for nothing goes.
  func abandon() {
    if isInMember, !isClosed { try? flush(endsMember: true) }
    if !hasBegun, isNew { unlink(shown) }
  }
}
