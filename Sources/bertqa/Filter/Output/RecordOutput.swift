import Glibc

/// The destination of records: standard output or a file. Output is written at once if a reader may be
/// waiting, and otherwise collected for a second or up to a mebibyte. A file does not change before the first
/// record or the end arrives.
final class RecordOutput {
  let shown: String
  let descriptor: Int32
  let isRegularFile: Bool
  /// True if it is a regular file that only this run writes, from the beginning.
  private let isOwnFile: Bool
  /// The path of such a file if it led to the file when it was opened: that of a file without a name does not.
  private let path: ArgumentText?
  /// The caller appends to it.
  var buffer: [UInt8] = []
  /// The number of bytes written: in the file, or by this process to a stream.
  private(set) var length = 0
  /// The hash of these bytes, if checkpoints need it.
  private(set) var hash: ContentHash?
  /// True if the reader has closed the pipe.
  private(set) var isClosed = false
  /// The time of the oldest byte in the buffer.
  private var gatheredSince: Double?
  /// True if the file's old contents have been cut off.
  private var hasBegun = true
  /// The path of the file if this object created it.
  private var newPath: ArgumentText?
  /// Converts UTF-8 to the output's encoding.
  var textEncoder: TextEncoder?
  /// Compresses the bytes, according to the file's name.
  private var encoder: (any StreamEncoder)?
  /// True inside a member or frame of the compressed file.
  private var isInMember = false

  private static let largest = 1 << 20
  private static let oldest = 1.0

  /// Creates standard output.
  init() {
    shown = "standard output"
    descriptor = STDOUT_FILENO
    isRegularFile = FilePlace(descriptor: descriptor).kind == S_IFREG
    isOwnFile = false
    path = nil
  }

  /// Opens and locks a file from its beginning; or standard output or error, if that writes to the same file.
  /// - Parameters:
  ///   - isHashed: true hashes the bytes, which requires read access.
  ///   - stop: ends the process while nobody reads a FIFO.
  init(path: ArgumentText, isHashed: Bool, stop: StopSignals) throws(ToolError) {
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
      let isNew: Bool
      (descriptor, isNew) = try Self.open(path, isHashed ? O_RDWR : O_WRONLY, stop)
      newPath = isNew ? path : nil
      isRegularFile = FilePlace(descriptor: descriptor).kind == S_IFREG
      isOwnFile = isRegularFile
    }
    self.path = isOwnFile && FileWriting.leads(path, to: descriptor) ? path : nil
    hash = isHashed ? ContentHash() : nil
    hasBegun = !isOwnFile
  }

  /// Opens or creates a file, and locks a regular one.
  private static func open(
    _ path: ArgumentText, _ mode: Int32, _ stop: StopSignals
  ) throws(ToolError) -> (descriptor: Int32, isNew: Bool) {
    while true {
      var isNew = false
      var descriptor = Glibc.open(path.pointer, mode | O_CLOEXEC | O_NONBLOCK)
      if descriptor < 0, errno == ENXIO, FilePlace(path: path.pointer).kind == S_IFIFO {
        // Nobody reads it yet.
        if let signal = stop.signal { StopSignals.die(of: signal) }
        var waiting = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, 50)
        continue
      }
      if descriptor < 0, errno == ENOENT {
        descriptor = Glibc.open(path.pointer, mode | O_CLOEXEC | O_CREAT, 0o666)
        isNew = true
      }
      guard descriptor >= 0 else { throw FileWriting.failed(path.string, errno) }
      let place = FilePlace(descriptor: descriptor)
      guard place.kind == S_IFREG else { return (descriptor, isNew) }
      // Some file systems do not support locks.
      if case .heldBy(let process) = FileLock.take(.whole, of: descriptor) {
        close(descriptor)
        throw FileWriting.inUse(path.string, process)
      }
      // The previous holder of the lock may have removed the file.
      if place.isSame(as: FilePlace(path: path.pointer)) { return (descriptor, isNew) }
      close(descriptor)
    }
  }

  /// The current size of the file in bytes.
  var currentSize: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Continues after the first `length` bytes of the file, which have this hash.
  func resume(length: Int, hash: ContentHash) {
    self.length = length
    self.hash = hash
  }

  /// Truncates the file to the part that is kept.
  private func begin() throws(ToolError) {
    guard !hasBegun else { return try checkIsUnchanged() }
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, 0, SEEK_END) == off_t(length) else {
      throw FileWriting.failed(shown, errno)
    }
    hasBegun = true
  }

  /// Throws if another process changed the file, as its bytes would corrupt the result, or removed it.
  private func checkIsUnchanged() throws(ToolError) {
    if let path { try FileWriting.check(path, leadsTo: descriptor) }
    guard isOwnFile, currentSize != length else { return }
    throw ToolError(.resources, "\(shown) was changed by another program while it was written")
  }

  /// Call this after each batch of records.
  func flushIfDue() throws(ToolError) {
    guard !buffer.isEmpty else { return }
    let now = Clock.seconds()
    let since = gatheredSince ?? now
    gatheredSince = since
    if !isRegularFile || buffer.count >= Self.largest || now - since >= Self.oldest { try flush() }
  }

  func flush() throws(ToolError) { try flush(endsMember: false) }

  /// - Parameter endsMember: true if a compressed file can be cut or end here.
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
      // The reader closed the pipe: exit without a message.
      if isClosed { throw ToolError(.resources, "") }
      throw FileWriting.failed(shown, number)
    }
    length += buffer.count
    buffer.withUnsafeBytes { hash?.update($0) }
    buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.largest)
    gatheredSince = nil
  }

  /// Syncs the written data to disk.
  func sync() throws(ToolError) {
    try begin()
    try flush(endsMember: true)
    guard fdatasync(descriptor) == 0 else { throw FileWriting.failed(shown, errno) }
  }

  /// Closes the file, as some file systems report a full disk only on close. The tool closes standard output.
  func finish() throws(ToolError) {
    try begin()
    // A compressed file needs at least one member, which may be empty.
    if encoder != nil, length == 0 { isInMember = true }
    try flush(endsMember: true)
    if descriptor > STDERR_FILENO, close(descriptor) != 0 { throw FileWriting.failed(shown, errno) }
  }

  /// Cleans up after a failed run: ends compressed output and removes a new file without contents.
  func abandon() {
    if isInMember, !isClosed { try? flush(endsMember: true) }
    if !hasBegun, let newPath { FileWriting.remove(newPath.pointer) }
  }
}
