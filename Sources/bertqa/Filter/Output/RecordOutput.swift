import Glibc

/// Where records go: standard output or a file. Written at once where somebody may wait for them, else
/// gathered for a second or a mebibyte. A file is not changed before the first record, or the end, is there.
final class RecordOutput {
  let shown: String
  let descriptor: Int32
  let isRegularFile: Bool
  /// Whether it is a regular file that this run alone writes, from its beginning.
  private let isOwnFile: Bool
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
  /// What makes of UTF-8 what is written.
  var textEncoder: TextEncoder?
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
    isRegularFile = FilePlace(descriptor: descriptor).kind == S_IFREG
    isOwnFile = false
  }

  /// A file, from its beginning, which is locked; or standard output or error, if it is the file of that.
  /// - Parameter isHashed: whether its bytes are hashed, which needs leave to read it.
  init(path: ArgumentText, isHashed: Bool) throws(ToolError) {
    shown = path.string
    encoder = try Compression(fileName: shown)?.makeEncoder(for: shown)
    let place = FilePlace(path: path.pointer)
    let stream = place.standardStream
    if isHashed, stream != nil, place.kind == S_IFREG {
      throw ToolError(
        .input, "--resume needs --output to be a file of its own: \(shown) is standard output or error")
    }
    if let stream {
      (descriptor, isRegularFile, isOwnFile) = (stream, place.kind == S_IFREG, false)
    } else {
      (descriptor, isNew) = try Self.open(path, isHashed ? O_RDWR : O_WRONLY)
      isRegularFile = FilePlace(descriptor: descriptor).kind == S_IFREG
      isOwnFile = isRegularFile
    }
    hash = isHashed ? ContentHash() : nil
    hasBegun = !isOwnFile
  }

  /// Opens a file or makes it, and locks it if it is a regular one.
  private static func open(
    _ path: ArgumentText, _ mode: Int32
  ) throws(ToolError) -> (descriptor: Int32, isNew: Bool) {
    while true {
      var isNew = false
      var descriptor = Glibc.open(path.pointer, mode | O_CLOEXEC)
      if descriptor < 0, errno == ENOENT {
        descriptor = Glibc.open(path.pointer, mode | O_CLOEXEC | O_CREAT, 0o666)
        isNew = true
      }
      guard descriptor >= 0 else { throw FileWriting.failed(path.string, errno) }
      let place = FilePlace(descriptor: descriptor)
      guard place.kind == S_IFREG else { return (descriptor, isNew) }
      // Some file systems have no locks.
      if case .heldBy(let process) = FileLock.take(.whole, of: descriptor) {
        close(descriptor)
        throw FileWriting.inUse(path.string, process)
      }
      // The run that had locked it may have removed it.
      if place.isSame(as: FilePlace(path: path.pointer)) { return (descriptor, isNew) }
      close(descriptor)
    }
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
    guard !hasBegun else { return try checkIsUnchanged() }
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(length) else {
      throw FileWriting.failed(shown, errno)
    }
    hasBegun = true
  }

  /// Bytes of others behind those of this run, or in the place of some, make the file worthless.
  private func checkIsUnchanged() throws(ToolError) {
    guard isOwnFile, currentSize != length else { return }
    throw ToolError(.resources, "\(shown) was changed by another program while it was written")
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
    if let textEncoder { buffer = textEncoder.encode(buffer) }
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
    if descriptor > STDERR_FILENO, close(descriptor) != 0 { throw FileWriting.failed(shown, errno) }
  }

  /// For a run that has failed: what is compressed gets its end, and a file that was made for nothing goes.
  func abandon() {
    if isInMember, !isClosed { try? flush(endsMember: true) }
    if !hasBegun, isNew { unlink(shown) }
  }
}
