import Glibc

/// The filter's input: a file or standard input, read until its end or until a signal asks to stop.
final class InputSource {
  let isRegularFile: Bool
  /// Of a regular file, when it was opened.
  let size: Int
  let shown: String
  let descriptor: Int32
  private let stop: StopSignals
  private static let chunk = 1 << 16
  /// How long a record that has begun may take to end after the signal.
  private static let patience = 2.0
  private var deadline: Double?

  /// Opens the file of this name, "-" for standard input.
  init(_ name: ArgumentText, stop: StopSignals) throws(ToolError) {
    let isStandardInput = strcmp(name.pointer, "-") == 0
    shown = isStandardInput ? "standard input" : name.string
    descriptor = isStandardInput ? STDIN_FILENO : open(name.pointer, O_RDONLY | O_CLOEXEC)
    self.stop = stop
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      throw ToolError(.input, "cannot read \(shown): \(String(cString: strerror(errno)))")
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw ToolError(.input, "\(shown): is a directory, not a file of records")
    }
    isRegularFile = status.st_mode & S_IFMT == S_IFREG
    size = isRegularFile ? Int(status.st_size) : 0
  }

  var isStopped: Bool { stop.signal != nil }

  /// Appends what is there to be read, and waits for it if nothing is. Returns the number of bytes: 0 at the
  /// end, or when a signal has come.
  func read(into buffer: ByteBuffer) throws(ToolError) -> Int {
    guard try waitForInput(orStop: true, seconds: nil) else { return 0 }
    return try read(into: buffer, atMost: Self.chunk)
  }

  /// After a signal: one byte more of the record that has begun, so that nothing is taken of the next. 0 at
  /// the end, or if it does not come in time.
  func readOne(into buffer: ByteBuffer) throws(ToolError) -> Int {
    let now = Clock.seconds()
    let deadline = deadline ?? now + Self.patience
    self.deadline = deadline
    guard now < deadline, try waitForInput(orStop: false, seconds: deadline - now) else { return 0 }
    return try read(into: buffer, atMost: 1)
  }

  func seek(to offset: Int) throws(ToolError) {
    guard lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else { throw error(errno) }
  }

  private func read(into buffer: ByteBuffer, atMost count: Int) throws(ToolError) -> Int {
    try buffer.reserve(count)
    while true {
      let result = Glibc.read(descriptor, buffer.room.baseAddress, count)
      if result >= 0 {
        buffer.extend(by: result)
        return result
      }
      let number = errno
      if number == EAGAIN { _ = try waitForInput(orStop: false, seconds: nil) }
      guard number == EINTR || number == EAGAIN else { throw error(number) }
    }
  }

  /// False if the time is up or a signal has come first.
  private func waitForInput(orStop: Bool, seconds: Double?) throws(ToolError) -> Bool {
    var waiting = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let result = poll(&waiting, orStop ? 2 : 1, seconds.map { Int32($0 * 1000) + 1 } ?? -1)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw error(errno) }
      return result > 0 && !(orStop && waiting[1].revents != 0)
    }
  }

  private func error(_ number: Int32) -> ToolError {
    ToolError(.input, "cannot read \(shown): \(String(cString: strerror(number)))")
  }
}
