import Glibc

/// The filter's input: files or standard input, read one after the other until the last one ends or a signal
/// requests a stop. With --follow, reading continues after the end of the file.
final class FilterInput: RecordSource, @unchecked Sendable {  // used by one thread at a time
  enum Source {
    /// One of the named files.
    case named(Input)
    case followed(FollowedFile)
  }

  private var source: Source
  private let names: [ArgumentText]
  private let reading: Input.Reading
  private let stop: StopSignals
  /// The time in seconds that a started record may take to end after the signal.
  private let patience: Double
  private var deadline: Double?

  private static let chunk = 1 << 16

  /// - Parameters:
  ///   - source: the first named file to read, or its reader with --follow.
  ///   - patience: the time in seconds that a started record may take to end after a signal.
  init(
    _ names: [ArgumentText], _ source: Source, reading: Input.Reading, stop: StopSignals, patience: Double
  ) {
    self.names = names
    self.reading = reading
    self.stop = stop
    self.source = source
    self.patience = patience
  }

  var input: Input {
    switch source {
    case .named(let input): input
    case .followed(let file): file.input
    }
  }

  var isStopped: Bool { stop.signal != nil }

  func read(into buffer: ByteBuffer, insideRecord: Bool) throws(ToolError) -> RecordReader.Reading {
    while !isStopped {
      if case .followed(let followed) = source {
        guard let reading = try followed.read(into: buffer, atMost: Self.chunk) else { continue }
        return reading
      }
      guard try waitForInput(orStop: true, seconds: nil) else { break }
      guard let count = try read(into: buffer, atMost: Self.chunk) else { continue }
      if count > 0 { return .bytes }
      guard input.index + 1 < names.count else { return .end }
      source = .named(try Self.open(names, input.index + 1, reading))
      return .nextFile
    }
    // Reads one byte at a time, so that nothing of the next record is consumed.
    let now = Clock.seconds()
    let deadline = deadline ?? now + patience
    self.deadline = deadline
    while insideRecord, Clock.seconds() < deadline,
      try waitForInput(orStop: false, seconds: deadline - Clock.seconds())
    {
      guard let count = try read(into: buffer, atMost: 1) else { continue }
      if count > 0 { return .bytes }
      guard case .followed = source else { return .end }
      // The rest of a line that is being appended.
      poll(nil, 0, 20)
    }
    return .end
  }

  /// Opens one of several inputs and prepares it for decoding.
  static func open(
    _ names: [ArgumentText], _ index: Int, _ reading: Input.Reading
  ) throws(ToolError) -> Input {
    let input = try Input(names[index], index: index, waits: false)
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

  /// Waits for input. Returns false if the time is up or a signal arrives first.
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
