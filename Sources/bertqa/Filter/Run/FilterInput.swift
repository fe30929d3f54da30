import Glibc

/// The filter's input: files or standard input, read one after the other until the last one's end or until a
/// signal asks to stop. With --follow the end of the one file is not the end: what is appended is read, and when
/// another file takes its name, that one.
final class FilterInput: RecordSource, @unchecked Sendable {  // used by one thread at a time
  private(set) var input: Input
  private let names: [ArgumentText]
  private let reading: Input.Reading
  private let stop: StopSignals
  private let follows: Bool
  /// How long a record that has begun may take to end after the signal.
  private let patience: Double
  private var deadline: Double?
  /// Whether another file has taken the name, so that this one ends where nothing more comes.
  private var isReplaced = false

  private static let chunk = 1 << 16
  /// Seconds between two looks at a file that is followed.
  private static let followInterval = 0.2

  /// - Parameters:
  ///   - first: the one of the names to begin with.
  ///   - patience: seconds that a record that has begun may take to end after a signal.
  init(
    _ names: [ArgumentText], first: Input, reading: Input.Reading, stop: StopSignals, follows: Bool,
    patience: Double
  ) {
    self.names = names
    self.reading = reading
    self.stop = stop
    self.follows = follows
    self.patience = patience
    input = first
  }

  var isStopped: Bool { stop.signal != nil }

  func read(into buffer: ByteBuffer, insideRecord: Bool) throws(ToolError) -> RecordReader.Reading {
    while !isStopped {
      guard try waitForInput(orStop: true, seconds: nil) else { break }
      guard let count = try read(into: buffer, atMost: Self.chunk) else { continue }
      if count > 0 { return .bytes }
      if follows {
        if try moveOn() { return .nextFile }
      } else {
        guard input.index + 1 < names.count else { return .end }
        input = try Self.open(names, input.index + 1, reading)
        return .nextFile
      }
    }
    // Reads one byte at a time, so that nothing of the next record is consumed.
    let now = Clock.seconds()
    let deadline = deadline ?? now + patience
    self.deadline = deadline
    while insideRecord, Clock.seconds() < deadline,
      try waitForInput(orStop: false, seconds: deadline - Clock.seconds())
    {
      if let count = try read(into: buffer, atMost: 1) { return count > 0 ? .bytes : .end }
    }
    return .end
  }

  /// Opens one of several inputs and prepares it for decoding.
  static func open(
    _ names: [ArgumentText], _ index: Int, _ reading: Input.Reading
  ) throws(ToolError) -> Input {
    let input = try Input(names[index], index: index)
    try input.begin(reading)
    return input
  }

  /// Returns nil if the bytes read do not produce output yet.
  private func read(into buffer: ByteBuffer, atMost count: Int) throws(ToolError) -> Int? {
    try buffer.reserve(count)
    let read = try input.readAvailable(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer.rawRoom.prefix(count)))
    buffer.extend(by: read ?? 0)
    return read
  }

  /// At the end of a file that is followed: waits a moment, and goes to the next one if there is one.
  private func moveOn() throws(ToolError) -> Bool {
    let position = Int(lseek(input.descriptor, 0, SEEK_CUR))
    if try input.currentSize() < position {
      report("\(input.shown) has become shorter: it is read from its beginning")
      try input.seek(to: 0)
      // As an object of its own: what was read before is no part of it.
      input = try Self.open(names, 0, reading)
      return true
    }
    if isReplaced {
      isReplaced = false
      // It may be gone again.
      if let next = try? Self.open(names, 0, reading), next.isRegularFile {
        input = next
        return true
      }
    }
    var waiting = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
    poll(&waiting, 1, Int32(Self.followInterval * 1000))
    // It ends when it has been read once more, as whoever writes it may have done so until now.
    if let identity = FileIdentity(path: names[0].string), identity != input.identity { isReplaced = true }
    return false
  }

  /// False if the time is up or a signal has come first.
  private func waitForInput(orStop: Bool, seconds: Double?) throws(ToolError) -> Bool {
    if input.hasMore { return true }
    var waiting = [
      pollfd(fd: input.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      let result = poll(&waiting, orStop ? 2 : 1, seconds.map { Int32(min($0, 1e6) * 1000) + 1 } ?? -1)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw Input.error(input.shown, errno) }
      return result > 0 && !(orStop && waiting[1].revents != 0)
    }
  }
}
