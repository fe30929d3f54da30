import Glibc

enum Descriptors {
  /// Takes the places of standard descriptors that the parent has closed, so that no file of the tool's own
  /// gets their numbers. What takes them can be neither read (0) nor written (1, 2): a use of it is an error.
  static func occupyStandard() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 && errno == EBADF {
      // The lowest free number is this one, as those below are taken.
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}

/// Locks that the system takes back when the process ends. They are lost when the process closes any
/// descriptor of the file: a locked file must be opened once only.
enum FileLock {
  /// What of a file is locked: bytes, which need not be there.
  enum Part {
    /// That a run alone writes it.
    case whole
    /// That runs append to it.
    case appending
    /// That something longer than one call is being appended.
    case writing
    /// That it is the standard output of runs.
    case standardOutput

    fileprivate var bytes: Range<Int> {
      switch self {
      case .whole: 0..<3
      case .appending: 0..<1
      case .writing: 1..<2
      case .standardOutput: 2..<3
      }
    }
  }

  enum Outcome {
    case taken
    case heldBy(pid_t)
    case failed(Int32)
  }

  /// - Parameter isShared: whether others may have it at the same time, if theirs is shared, too.
  static func take(_ part: Part, of descriptor: Int32, isShared: Bool = false) -> Outcome {
    let type = Int16(isShared ? F_RDLCK : F_WRLCK)
    var lock = lock(part, type)
    while fcntl(descriptor, F_SETLK, &lock) != 0 {
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES:
        // It may have been given back meanwhile.
        if let process = holder(of: part, descriptor, type) { return .heldBy(process) }
      default: return .failed(errno)
      }
    }
    return .taken
  }

  /// A shared lock of one part while nobody has the other.
  static func take(_ part: Part, besides other: Part, of descriptor: Int32) -> Outcome {
    let outcome = take(part, of: descriptor, isShared: true)
    if case .taken = outcome, let process = holder(of: other, descriptor) { return .heldBy(process) }
    return outcome
  }

  /// The process whose lock is in the way of one; nil if none is or it cannot be found out.
  private static func holder(of part: Part, _ descriptor: Int32, _ type: Int16 = Int16(F_WRLCK)) -> pid_t? {
    var lock = lock(part, type)
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
    return lock.l_pid
  }

  /// The process that has locked a file; nil if none has or it cannot be found out. Not for a file that this
  /// process has locked: its lock would be lost.
  static func holder(ofFileAt path: String) -> pid_t? {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return holder(of: .whole, descriptor)
  }

  /// Several processes may have one file as their standard output and write one behind the other, but not while
  /// another process writes it as a file of its own.
  static func holdStandardOutput() throws(ToolError) {
    guard FilePlace(descriptor: STDOUT_FILENO).kind == S_IFREG else { return }
    // A shared lock needs leave to read. The descriptor stays open to the end, as the lock does.
    let reading = open("/proc/self/fd/\(STDOUT_FILENO)", O_RDONLY | O_CLOEXEC)
    if case .heldBy(let process) = take(.standardOutput, besides: .appending, of: reading) {
      throw FileWriting.inUse("the file of standard output", process)
    }
  }

  /// Waits for it. Returns errno of what failed, or 0.
  static func wait(_ part: Part, of descriptor: Int32) -> Int32 {
    var lock = lock(part, Int16(F_WRLCK))
    while fcntl(descriptor, F_SETLKW, &lock) != 0 {
      if errno != EINTR { return errno }
    }
    return 0
  }

  static func giveBack(_ part: Part, of descriptor: Int32) {
    var lock = lock(part, Int16(F_UNLCK))
    _ = fcntl(descriptor, F_SETLK, &lock)
  }

  private static func lock(_ part: Part, _ type: Int16) -> flock {
    flock(
      l_type: type, l_whence: Int16(SEEK_SET), l_start: off_t(part.bytes.lowerBound),
      l_len: off_t(part.bytes.count),
      l_pid: 0)
  }
}
