import CSystem
import Glibc

/// A file or standard input, read piece by piece. It retries after signals and waits for non-blocking descriptors.
final class Input {
  /// The name in messages.
  let shown: String
  let descriptor: Int32
  /// The size of a regular file in bytes when it was opened; nil for pipes and the like.
  let size: Int?
  /// The identity of the file; nil if the system does not report one.
  let identity: FileIdentity?
  /// The index of this input among several, from 0.
  let index: Int
  private var decompressor: Decompressor?
  /// The first bytes of a pipe, kept until they show if it is compressed; then the bytes that are not read
  /// yet.
  private var head: ByteBuffer?
  private var headTaken = 0
  private var isUnknown = false
  /// What `beginning` read and the next reads return; its first bytes were returned already.
  private var kept = ByteBuffer()
  private var keptTaken = 0
  private var reading = Reading(isText: false)
  /// nil for input that is not text.
  private var text: TextDecoder?
  /// The file that was read before and of which this is a copy. Offsets continue.
  var original: Input?
  /// A followed file's size, and the time of its last change in nanoseconds since 1970, at the last read.
  var seen = (size: 0, changed: 0)

  /// Options for reading a file.
  struct Reading {
    /// True if the file is text. Its first bytes then identify compression and UTF-16.
    var isText = true
    /// nil detects the encoding from the first bytes.
    var encoding: TextEncoding?
    /// True if the file may grow, so that its current end is not final.
    var grows = false
  }

  /// Opens the named file; "-" is standard input.
  /// - Parameter waits: false opens a FIFO that nobody writes yet, so that the caller can wait for more than that.
  convenience init(_ name: ArgumentText, index: Int = 0, waits: Bool = true) throws(ToolError) {
    let flags = O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK)
    try self.init(
      name.isStandardInput ? STDIN_FILENO : open(name.pointer, flags),
      shown: name.shownAsFile, index: index)
  }

  /// Opens the file at a path.
  convenience init(path: String) throws(ToolError) {
    try self.init(open(path, O_RDONLY | O_CLOEXEC), shown: path, index: 0)
  }

  /// Opens a followed file without waiting: the path may have become a FIFO.
  convenience init(following path: String, shown: String) throws(ToolError) {
    try self.init(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), shown: shown, index: 0)
  }

  /// Represents a followed file that does not exist yet: a pipe at its end.
  /// - Parameter changed: files that changed after this time come next.
  convenience init(awaiting shown: String, since changed: Int) throws(ToolError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Self.error(shown, errno) }
    close(ends[1])
    try self.init(ends[0], shown: shown, index: 0)
    seen.changed = changed
  }

  /// Opens the file of another input from its beginning.
  convenience init(again input: Input) throws(ToolError) {
    try self.init(fcntl(input.descriptor, F_DUPFD_CLOEXEC, 0), shown: input.shown, index: input.index)
    try seek(to: 0)
  }

  /// Takes ownership of a descriptor. If it is negative, errno holds the error.
  private init(_ descriptor: Int32, shown: String, index: Int) throws(ToolError) {
    self.descriptor = descriptor
    self.shown = shown
    self.index = index
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Self.error(shown, errno) }
    if status.st_mode & S_IFMT == S_IFDIR {
      if descriptor > STDERR_FILENO { close(descriptor) }
      throw Self.error(shown, EISDIR)
    }
    size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    identity = FileIdentity(descriptor: descriptor)
  }

  deinit {
    if descriptor > STDERR_FILENO { close(descriptor) }
  }

  var isRegularFile: Bool { size != nil }

  /// True if this is a copy of another file, or of a copy of it.
  func continues(_ other: Input) -> Bool {
    original.map { $0 === other || $0.continues(other) } ?? false
  }

  /// Returns the current size of the file in bytes.
  func currentSize() throws(ToolError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.error(shown, errno) }
    return Int(status.st_size)
  }

  /// The compression that is being decoded; nil if there is none or it is not known.
  var compression: Compression? { decompressor?.compression }

  /// The encoding that is being converted to UTF-8; nil for UTF-8. Known after the first read.
  var encoding: TextEncoding? { text?.encoding }

  /// True if the text had bytes that are invalid in its encoding. `EscapedByte` represents them.
  var hasInvalid: Bool { text?.hasInvalid ?? false }

  /// True if the output is the file's bytes, without conversion.
  var isVerbatim: Bool { compression == nil && encoding == nil }

  /// True if data is available without reading the file.
  var hasMore: Bool {
    text?.hasMore == true || keptTaken < kept.count || decompressor?.hasMore ?? (head != nil && !isUnknown)
  }

  /// Starts decoding: later reads return decompressed bytes, and text as UTF-8.
  func begin(_ reading: Reading) throws(ToolError) {
    self.reading = reading
    if !reading.grows { try decompress(byContent: reading.isText) }
    guard reading.isText else { return }
    let text = TextDecoder(reading.encoding, shown)
    self.text = text
    guard isRegularFile, descriptor != STDIN_FILENO, compression == nil, let beginning = firstBytes(1 << 12)
    else { return }
    // The first bytes of an empty file that grows are still to come.
    if reading.grows, beginning.count < 4 { return }
    try beginning.withElements { bytes throws(ToolError) in try text.settle(by: bytes) }
  }

  /// Reads until the encoding is known.
  func findEncoding() throws(ToolError) -> TextEncoding? {
    let buffer = ByteBuffer()
    try buffer.reserve(1)
    _ = try read(into: buffer.rawRoom)
    return encoding
  }

  /// Starts decompression if the file's name or its first bytes identify a compressed file.
  /// - Parameter byContent: true if the first bytes count. No text begins with the bytes of compressed data.
  func decompress(byContent: Bool) throws(ToolError) {
    var compression = Compression(fileName: shown)
    if compression == nil, byContent {
      if isRegularFile, descriptor != STDIN_FILENO {
        compression = firstBytes(4).flatMap { Compression(beginningWith: $0) }
      } else {
        head = ByteBuffer()
        isUnknown = true
      }
    }
    decompressor = try compression.map { compression throws(ToolError) in
      try Decompressor(compression, shown)
    }
  }

  /// Returns the first decompressed bytes, which the next reads return again. Call it once, before any read.
  func beginning(_ count: Int) throws(ToolError) -> UnsafeBufferPointer<UInt8> {
    let bytes = ByteBuffer()
    while bytes.count < count {
      if try bytes.fill(atMost: count - bytes.count, read) == 0 { break }
    }
    kept = bytes
    return bytes.bytes
  }

  /// Returns the first bytes of a regular file.
  private func firstBytes(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  /// Reads available bytes into `buffer` and waits if there are none. Returns 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int {
    while true {
      if let count = try readAvailable(into: buffer) { return count }
    }
  }

  /// Reads the file at most once. Returns 0 at the end, or nil if the bytes read do not produce output yet.
  func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int? {
    guard let text, !text.isDone else { return try readBytes(into: buffer) }
    if !text.hasMore {
      guard let count = try text.fill(isEnd: !reading.grows, readBytes) else { return nil }
      if count == 0, !text.hasMore { return 0 }
    }
    let count = text.take(into: buffer)
    return count > 0 ? count : nil
  }

  /// Reads decompressed bytes, with the same result as `readAvailable`.
  private func readBytes(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int? {
    if keptTaken < kept.count { return Self.take(kept, &keptTaken, into: buffer) }
    if let head, decompressor == nil { return try read(head, into: buffer) }
    guard let decompressor else { return try readFile(into: buffer) }
    if let count = try decompressor.take(into: buffer) { return count }
    if try decompressor.fill(readFile) == 0 {
      try decompressor.checkEnd()
      return 0
    }
    return try decompressor.take(into: buffer)
  }

  /// Reads the first bytes of a pipe, which show if it is compressed.
  private func read(
    _ head: ByteBuffer, into buffer: UnsafeMutableRawBufferPointer
  ) throws(ToolError) -> Int? {
    if isUnknown {
      let count = try head.fill(atMost: 1 << 16, readFile)
      if count > 0, Compression.mayBegin(with: head.bytes) { return nil }
      isUnknown = false
      if let compression = Compression(beginningWith: head.bytes) {
        let decompressor = try Decompressor(compression, shown)
        try decompressor.append(head.bytes)
        self.decompressor = decompressor
        self.head = nil
        return nil
      }
    }
    let count = Self.take(head, &headTaken, into: buffer)
    if headTaken == head.count { self.head = nil }
    return count
  }

  /// Copies the bytes after the first `taken` ones, as many as fit.
  private static func take(
    _ bytes: ByteBuffer, _ taken: inout Int, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    let part = UnsafeRawBufferPointer(bytes.bytes).dropFirst(taken).prefix(buffer.count)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
    taken += part.count
    return part.count
  }

  private func readFile(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      let number = errno
      if number == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
      } else if number != EINTR {
        throw Self.error(shown, number)
      }
    }
  }

  /// Moves to an offset of the output. This takes time linear in the offset if the output is decoded.
  func seek(to offset: Int) throws(ToolError) {
    if isVerbatim {
      guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else {
        throw Self.error(shown, errno)
      }
      return
    }
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw Self.error(shown, errno) }
    if let compression { decompressor = try Decompressor(compression, shown) }
    if text != nil { text = TextDecoder(reading.encoding, shown) }
    let passed = ByteBuffer()
    try passed.reserve(1 << 16)
    var rest = offset
    while rest > 0 {
      let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: passed.rawRoom.prefix(rest)))
      guard count > 0 else { throw ToolError(.input, "\(shown) has become shorter") }
      rest -= count
    }
  }

  static func error(_ shown: String, _ number: Int32) -> ToolError {
    if number == EISDIR { return ToolError(.input, "\(shown): is a directory, not a file: name its files") }
    return ToolError(.input, "cannot read \(shown): \(String(cString: strerror(number)))")
  }
}

/// Identifies a file independently of its names, and from later files that get its inode number.
struct FileIdentity: Hashable {
  let device: UInt64
  let file: UInt64
  /// The time of the file's creation in nanoseconds since 1970; 0 if the file system does not keep it.
  let born: UInt64

  init(device: UInt64, file: UInt64, born: UInt64) {
    self.device = device
    self.file = file
    self.born = born
  }

  /// Identifies the file at a path; nil if there is none.
  init?(path: UnsafePointer<CChar>) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status, born: bq_creation_time(AT_FDCWD, path))
  }

  /// Identifies an open file; nil if the descriptor is not open.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status, born: bq_creation_time(descriptor, ""))
  }

  /// True if the file was created by then; false if that is not known.
  /// - Parameter time: in nanoseconds since 1970.
  func existed(at time: Int) -> Bool { born != 0 && time >= born }

  private init(_ status: stat, born: UInt64) {
    self.init(device: UInt64(status.st_dev), file: UInt64(status.st_ino), born: born)
  }
}
