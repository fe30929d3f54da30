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

  /// Opens the file of this name, "-" for standard input.
  convenience init(_ name: ArgumentText) throws(ToolError) {
    try self.init(
      name.isStandardInput ? STDIN_FILENO : open(name.pointer, O_RDONLY | O_CLOEXEC),
      shown: name.shownAsFile)
  }

  /// Opens the file at a path.
  convenience init(path: String) throws(ToolError) {
    try self.init(open(path, O_RDONLY | O_CLOEXEC), shown: path)
  }

  /// Takes over a descriptor; errno tells of one that is negative.
  private init(_ descriptor: Int32, shown: String) throws(ToolError) {
    self.descriptor = descriptor
    self.shown = shown
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

  /// Reads into `buffer` what is there, and waits if nothing is. 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int {
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

  func seek(to offset: Int) throws(ToolError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else { throw Self.error(shown, errno) }
  }

  static func error(_ shown: String, _ number: Int32) -> ToolError {
    if number == EISDIR { return ToolError(.input, "\(shown): is a directory, not a file: name its files") }
    return ToolError(.input, "cannot read \(shown): \(String(cString: strerror(number)))")
  }
}

/// Tells files apart, whatever their names.
struct FileIdentity: Equatable {
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
