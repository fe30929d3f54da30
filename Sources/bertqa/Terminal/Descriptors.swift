import Glibc

enum Descriptors {
  /// Opens /dev/null for standard descriptors that the parent closed, so that no file of the tool gets their
  /// numbers. Descriptor 0 is opened for writing and 1 and 2 for reading, so that any use of them is an
  /// error.
  static func occupyStandard() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 && errno == EBADF {
      // All lower numbers are taken, so open() returns this one.
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}

/// Locks that the system releases when the process ends. The process also loses them when it closes any
/// descriptor of the file, so open a locked file only once.
enum FileLock {
  /// The lock's purpose. Each locks certain byte offsets, which need not exist in the file.
  enum Part {
    /// The file belongs to one run.
    case whole
    /// Runs append to the file.
    case appending
    /// A run is appending something in more than one call.
    case writing
    /// The file is the standard output of runs.
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

  /// - Parameter isShared: true takes a shared lock, which several processes can hold at the same time.
  static func take(_ part: Part, of descriptor: Int32, isShared: Bool = false) -> Outcome {
    let type = Int16(isShared ? F_RDLCK : F_WRLCK)
    var lock = lock(part, type)
    while fcntl(descriptor, F_SETLK, &lock) != 0 {
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES:
        // The other process may have released it since.
        if let process = holder(of: part, descriptor, type) { return .heldBy(process) }
      default: return .failed(errno)
      }
    }
    return .taken
  }

  /// Takes a shared lock of one part if no process holds the other part.
  static func take(_ part: Part, besides other: Part, of descriptor: Int32) -> Outcome {
    let outcome = take(part, of: descriptor, isShared: true)
    if case .taken = outcome, let process = holder(of: other, descriptor) { return .heldBy(process) }
    return outcome
  }

  /// Returns the process whose lock conflicts; nil if there is none or it cannot be determined.
  private static func holder(of part: Part, _ descriptor: Int32, _ type: Int16 = Int16(F_WRLCK)) -> pid_t? {
    var lock = lock(part, type)
    guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
    return lock.l_pid
  }

  /// Returns the process that has locked a file; nil if there is none or it cannot be determined. Do not call
  /// it for a file that this process has locked: the lock would be lost.
  static func holder(ofFileAt path: String) -> pid_t? {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return holder(of: .whole, descriptor)
  }

  /// Locks the file of standard output. Several processes may share it and write one after another, but no
  /// other process may write it as a file of its own meanwhile.
  static func holdStandardOutput() throws(ToolError) {
    guard FilePlace(descriptor: STDOUT_FILENO).kind == S_IFREG else { return }
    // A shared lock requires read access. The descriptor stays open, as closing it would release the lock.
    let reading = open("/proc/self/fd/\(STDOUT_FILENO)", O_RDONLY | O_CLOEXEC)
    if case .heldBy(let process) = take(.standardOutput, besides: .appending, of: reading) {
      throw FileWriting.inUse("the file of standard output", process)
    }
  }

  /// Waits for the lock. Returns 0 or errno.
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
