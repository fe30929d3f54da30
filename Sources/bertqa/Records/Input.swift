import Glibc

/// A file, or standard input, that is read piece by piece: the one way in which the tool reads what it is
/// given. Goes on after signals, and waits for descriptors that do not block.
final class Input {
  /// How messages name it.
  let shown: String
  let descriptor: Int32
  /// Bytes of a regular file when it was opened; nil for pipes and their like.
  let size: Int?
  /// Of the file; nil if the system does not say.
  let identity: FileIdentity?
  /// Which of several inputs it is, from 0.
  let index: Int
  private var decompressor: Decompressor?
  /// The first bytes of a pipe, until they say whether it is compressed; then what is left of them.
  private var head: ByteBuffer?
  private var headTaken = 0
  private var isUnknown = false
  private var reading = Reading(isText: false)
  /// nil for what is no text.
  private var text: TextDecoder?

  /// How to read a file's bytes.
  struct Reading {
    /// Whether it is text, whose beginning tells whether it is compressed, or UTF-16.
    var isText = true
    /// nil: by the beginning.
    var encoding: TextEncoding?
    /// Whether the end is not the end, as more may come.
    var grows = false
  }

  /// Opens the file of this name, "-" for standard input.
  convenience init(_ name: ArgumentText, index: Int = 0) throws(ToolError) {
    try self.init(
      name.isStandardInput ? STDIN_FILENO : open(name.pointer, O_RDONLY | O_CLOEXEC),
      shown: name.shownAsFile, index: index)
  }

  /// Opens the file at a path.
  convenience init(path: String) throws(ToolError) {
    try self.init(open(path, O_RDONLY | O_CLOEXEC), shown: path, index: 0)
  }

  /// Takes over a descriptor; errno tells of one that is negative.
  private init(_ descriptor: Int32, shown: String, index: Int) throws(ToolError) {
    self.descriptor = descriptor
    self.shown = shown
    self.index = index
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Self.error(shown, errno) }
    if status.st_mode & S_IFMT == S_IFDIR { throw Self.error(shown, EISDIR) }
    size = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    identity = FileIdentity(status)
  }

  deinit {
    if descriptor > STDERR_FILENO { close(descriptor) }
  }

  var isRegularFile: Bool { size != nil }

  /// Bytes of the file now.
  func currentSize() throws(ToolError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.error(shown, errno) }
    return Int(status.st_size)
  }

  /// How its bytes are compressed, where that is known and undone.
  var compression: Compression? { decompressor?.compression }

  /// Of its text, where that is not UTF-8 and was converted; known from the first read on.
  var encoding: TextEncoding? { text?.encoding }

  /// Whether bytes of the text were not valid in its encoding: `EscapedByte` has them.
  var hasInvalid: Bool { text?.hasInvalid ?? false }

  /// Whether what it gives are the bytes of the file.
  var isVerbatim: Bool { compression == nil && encoding == nil }

  /// Whether there is something to be had without reading the file.
  var hasMore: Bool { text?.hasMore == true || decompressor?.hasMore ?? (head != nil && !isUnknown) }

  /// From here on gives what its bytes mean: what they were before they were compressed, and text as UTF-8.
  func begin(_ reading: Reading) throws(ToolError) {
    self.reading = reading
    if !reading.grows { try decompress(byContent: reading.isText) }
    guard reading.isText else { return }
    let text = TextDecoder(reading.encoding, shown)
    self.text = text
    guard isRegularFile, descriptor != STDIN_FILENO, compression == nil, let beginning = firstBytes(1 << 12)
    else { return }
    // Of an empty file that grows the beginning is still to come.
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

  /// From here on gives what its compressed bytes were, if its name says that they are, or their beginning.
  /// - Parameter byContent: whether the beginning counts: that of text cannot be taken for compressed data.
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

  /// Of a regular file.
  private func firstBytes(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  /// Reads into `buffer` what is there, and waits if nothing is. 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int {
    while true {
      if let count = try readAvailable(into: buffer) { return count }
    }
  }

  /// Reads the file once at most. 0 at the end; nil if what was read gives nothing yet.
  func readAvailable(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int? {
    guard let text, !text.isDone else { return try readBytes(into: buffer) }
    if !text.hasMore {
      guard let count = try text.fill(isEnd: !reading.grows, readBytes) else { return nil }
      if count == 0, !text.hasMore { return 0 }
    }
    let count = text.take(into: buffer)
    return count > 0 ? count : nil
  }

  /// The same of what the file was before it was compressed.
  private func readBytes(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int? {
    if let head, decompressor == nil { return try read(head, into: buffer) }
    guard let decompressor else { return try readFile(into: buffer) }
    if let count = try decompressor.take(into: buffer) { return count }
    if try decompressor.fill(readFile) == 0 {
      try decompressor.checkEnd()
      return 0
    }
    return try decompressor.take(into: buffer)
  }

  /// The beginning of a pipe, of which it is to be found out whether it is compressed.
  private func read(
    _ head: ByteBuffer, into buffer: UnsafeMutableRawBufferPointer
  ) throws(ToolError) -> Int? {
    if isUnknown {
      try head.reserve(1 << 16)
      let count = try readFile(into: head.rawRoom)
      head.extend(by: count)
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
    let part = UnsafeRawBufferPointer(head.bytes).dropFirst(headTaken).prefix(buffer.count)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
    headTaken += part.count
    if headTaken == head.count { self.head = nil }
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

  /// Goes to an offset of what it gives; linear in the offset where that is not what the file has.
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

/// Tells files apart, whatever their names.
struct FileIdentity: Hashable {
  let device: UInt64
  let file: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    file = UInt64(status.st_ino)
  }

  init(device: UInt64, file: UInt64) {
    self.device = device
    self.file = file
  }

  /// Of the file that the path leads to; nil if there is none.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Of an open file; nil if it is none.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }
}
