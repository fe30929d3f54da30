import BertQACore
import Glibc

/// Opens each file that takes the name of a followed file, at once and in order. A file that is renamed or removed
/// before its turn can then still be read. A thread waits for inotify events. It also looks at the name five times a
/// second, because network file systems send no events.
final class FileWatch: @unchecked Sendable {  // the state is guarded by `mutex`
  private struct Arrival {
    let number: Int
    /// The current path; nil if the file is gone. Not updated once the file is open.
    var path: String?
    var input: Input?
    /// The path of the compressed file, which gzip writes before it removes this one.
    var compressedPath: String?
    /// When the file was first found to be gone. The second event of a rename may follow.
    var goneSince: Double?
  }

  let name: ArgumentText
  private let reading: Input.Reading
  private let stop: StopSignals
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let events: Int32
  /// The watched directories by the number of the watch.
  private var directories: [Int32: String] = [:]
  /// The followed path and the paths that it links to. A file that appears at one of them must be read.
  private var paths: [String] = []
  private var arrivals: [Arrival] = []
  private var arrivalCount = 0
  /// The file that is being read.
  private var present: FileIdentity?
  /// The rotated files that were read to their ends.
  private var finishedFiles: Set<FileIdentity> = []
  /// The indices of arrivals that are being renamed, by the event's cookie.
  private var moving: [UInt32: [Int]] = [:]
  /// The file that had the name at the last look although no event announced it.
  private var suspect: FileIdentity?
  /// The reason why the name cannot be read, its start time, and true if it was reported.
  private var obstacle: (text: String, since: Double, isSaid: Bool)?
  private var lossCount = 0

  /// The interval in seconds between checks of the name, and the delay until a missing file is reported.
  static let interval = 0.2
  /// The maximum number of files that are held open.
  private static let openAtMost = 64

  /// Opens the file that has the name now, if there is one.
  init(_ name: ArgumentText, _ reading: Input.Reading, stop: StopSignals) throws(ToolError) {
    self.name = name
    self.reading = reading
    self.stop = stop
    pthread_mutex_init(mutex, nil)
    events = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
    findPaths()
    add(paths[0])
    look(isFirst: true)
    try Thread.start { [self] in
      var waiting = [
        pollfd(fd: events, events: Int16(POLLIN), revents: 0),
        pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      while stop.signal == nil {
        poll(&waiting, 2, Int32(Self.interval * 1000))
        look()
      }
    }
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    if events >= 0 { close(events) }
  }

  /// The files that follow the one being read.
  enum Waiting: Equatable {
    case nothing
    /// One file of this size.
    case last(size: Int)
    case several
  }

  var waiting: Waiting {
    locked {
      guard let first = arrivals.first else { return .nothing }
      if arrivals.count > 1 { return .several }
      return .last(size: (try? first.input?.currentSize()) ?? 0)
    }
  }

  /// The open files that remain to be read, in order, including any that has just appeared.
  var held: [Input] {
    locked {
      takeEvents()
      openArrivals()
      return arrivals.compactMap(\.input)
    }
  }

  /// Takes the next file; nil if there is none or it could not be opened yet.
  func next() -> Input? {
    locked {
      guard let input = arrivals.first?.input else { return nil }
      arrivals.removeFirst()
      present = input.identity
      return input
    }
  }

  /// Sets the file that is read from now on. Returns true if it was one of `held`.
  @discardableResult
  func isReading(_ input: Input) -> Bool {
    locked {
      let count = arrivals.count
      present = input.identity
      arrivals.removeAll { $0.input?.identity == present }
      return arrivals.count < count
    }
  }

  /// Notes that a rotated file was read to its end.
  func finish(_ file: FileIdentity) { locked { _ = finishedFiles.insert(file) } }

  var finished: Set<FileIdentity> { locked { finishedFiles } }

  /// Forgets finished files that are gone.
  func keepFinished(of files: [RotatedFiles.File]) {
    locked { finishedFiles.formIntersection(files.map(\.identity)) }
  }

  /// The number of reports of lost records.
  var losses: Int { locked { lossCount } }

  /// Reports that records were lost.
  func reportLoss(_ text: String) { locked { countLoss(text) } }

  private func countLoss(_ text: String) {
    lossCount += 1
    report(text)
  }

  /// Waits for `interval` or a signal.
  func wait() {
    var waiting = pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0)
    poll(&waiting, 1, Int32(Self.interval * 1000))
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  private func look(isFirst: Bool = false) {
    locked {
      findPaths()
      takeEvents()
      openArrivals()
      lookAtName(isFirst: isFirst)
    }
  }

  /// Links may change and directories may appear at any time.
  private func findPaths() {
    paths = RotatedFiles.names(of: name.string)
    for directory in Set(paths.map { FilePath.split($0).directory }) {
      let watch = inotify_add_watch(
        events, directory, UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF))
      guard watch >= 0, directories[watch] != directory else { continue }
      // A directory that was renamed is watched on, but what happens in it is no longer at this path.
      takeEvents()
      for former in directories.keys where directories[former] == directory {
        inotify_rm_watch(events, former)
        directories[former] = nil
      }
      directories[watch] = directory
    }
  }

  private func add(_ path: String) {
    arrivals.append(Arrival(number: arrivalCount, path: path))
    arrivalCount += 1
  }

  /// Reads the events since the last call.
  private func takeEvents() {
    let size = 1 << 14
    let header = MemoryLayout<inotify_event>.size
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      while true {
        let count = read(events, buffer.baseAddress, size)
        guard count > 0 else { break }
        var offset = 0
        while offset + header <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let bytes = buffer[(offset + header)..<min(count, offset + header + Int(event.len))]
          take(event, String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
          offset += header + Int(event.len)
        }
      }
    }
    if arrivals.isEmpty { moving.removeAll() }
  }

  private func take(_ event: inotify_event, _ entry: String) {
    if event.mask & UInt32(IN_IGNORED) != 0 { directories[event.wd] = nil }
    guard let directory = directories[event.wd] else { return }
    let path = "\(directory)/\(entry)"
    let here = arrivals.indices.filter { arrivals[$0].input == nil && arrivals[$0].path == path }
    // Every event means that the former file at this path was moved, removed or replaced.
    for index in here { arrivals[index].path = nil }
    let mask = event.mask
    if mask & UInt32(IN_MOVED_FROM) != 0 {
      if !here.isEmpty { moving[event.cookie] = here.map { arrivals[$0].number } }
    } else if mask & UInt32(IN_DELETE) != 0 {
      for index in here { arrivals[index].path = arrivals[index].compressedPath }
    } else if event.cookie != 0, let moved = moving.removeValue(forKey: event.cookie) {
      for index in arrivals.indices where moved.contains(arrivals[index].number) {
        arrivals[index].path = path
      }
    } else if paths.contains(path) {
      add(path)
    } else if let compression = Compression(fileName: path) {
      let plain = String(path.dropLast(compression.suffix.utf8.count))
      for index in arrivals.indices where arrivals[index].input == nil && arrivals[index].path == plain {
        arrivals[index].compressedPath = path
      }
    }
  }

  /// Opens arrivals in order.
  private func openArrivals() {
    var index = 0
    while index < arrivals.count {
      guard arrivals[index].input == nil else {
        index += 1
        continue
      }
      guard index < Self.openAtMost else { return }
      guard let path = arrivals[index].path else {
        let since = arrivals[index].goneSince ?? Clock.seconds()
        arrivals[index].goneSince = since
        if Clock.seconds() - since < Self.interval { return }
        countLoss(
          "\(name.string): a file that had this name was removed before it could be opened: it is lost")
        arrivals.remove(at: index)
        continue
      }
      let number = arrivals[index].number
      let isFile = Self.isRegularFile(path)
      let input = isFile == true ? open(path) : nil
      // New events tell if this was the right file.
      takeEvents()
      guard arrivals[index].number == number, arrivals[index].path == path else { continue }
      if let input, input.isRegularFile {
        let known = [present] + arrivals.map(\.input?.identity)
        // It may have been read as a rotated file before its turn came.
        let isFinished = !paths.contains(path) && input.identity.map(finishedFiles.contains) == true
        if isFinished || known.contains(input.identity) {
          arrivals.remove(at: index)
        } else {
          arrivals[index].input = input
        }
        continue
      }
      // A file that cannot be read yet is not skipped.
      if isFile == true, Self.isRegularFile(path) == true { return }
      if isPending { continue }
      arrivals.remove(at: index)
    }
  }

  /// Opens the file; nil if it cannot be read now.
  private func open(_ path: String) -> Input? {
    do throws(ToolError) {
      // A file that was renamed may be compressed by now, as its new name says.
      let isRenamed = !paths.contains(path)
      let input = try Input(following: path, shown: isRenamed ? path : name.string)
      if isRenamed { try input.begin(rotated: reading) } else { try input.begin(reading) }
      return input
    } catch {
      return nil
    }
  }

  /// True for a regular file; nil if there is no file.
  private static func isRegularFile(_ path: String) -> Bool? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
  }

  /// True if there are events to read.
  private var isPending: Bool {
    var waiting = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) > 0
  }

  /// Finds files that no event announced, and reports once why the name cannot be read.
  private func lookAtName(isFirst: Bool) {
    var status = stat()
    guard stat(name.pointer, &status) == 0 else {
      return say(
        errno == ENOENT
          ? "\(name.string) is not there: waiting for it"
          : "\(Input.error(name.string, errno).message): waiting", isFirst)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      return say("\(name.string) is \(Self.kind(status)), not a file: waiting for one", isFirst)
    }
    guard let identity = FileIdentity(path: name.pointer) else { return }
    if access(name.pointer, R_OK) != 0 {
      say("\(Input.error(name.string, errno).message): waiting", isFirst)
    } else {
      obstacle = nil
    }
    let isKnown =
      identity == present || arrivals.contains { $0.input == nil || $0.input?.identity == identity }
    if !isKnown, suspect == identity {
      add(paths[0])
      openArrivals()
    }
    suspect = isKnown ? nil : identity
  }

  /// Waits before it reports: during a rotation the name is free for a moment.
  private func say(_ text: String, _ isFirst: Bool) {
    let now = Clock.seconds()
    if obstacle?.text != text { obstacle = (text, now, false) }
    guard let obstacle, !obstacle.isSaid, isFirst || now - obstacle.since >= Self.interval else { return }
    self.obstacle?.isSaid = true
    report(text)
  }

  private static func kind(_ status: stat) -> String {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }
}
