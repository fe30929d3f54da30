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
  /// What of a file is locked.
  enum Part: Int {
    /// That it is in use.
    case use = 0
    /// That something longer than one call is being written.
    case writing = 1
  }

  enum Outcome {
    case taken
    case heldBy(pid_t)
    case failed(Int32)
  }

  /// - Parameter isShared: whether others may have it at the same time, if theirs is shared, too.
  static func take(_ part: Part, of descriptor: Int32, isShared: Bool = false) -> Outcome {
    var lock = lock(part, Int16(isShared ? F_RDLCK : F_WRLCK))
    while fcntl(descriptor, F_SETLK, &lock) != 0 {
      switch errno {
      case EINTR: continue
      case EAGAIN, EACCES:
        lock = Self.lock(part, Int16(isShared ? F_RDLCK : F_WRLCK))
        guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return .failed(errno) }
        // It may have been given back meanwhile.
        if lock.l_type != Int16(F_UNLCK) { return .heldBy(lock.l_pid) }
      default: return .failed(errno)
      }
    }
    return .taken
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
    flock(l_type: type, l_whence: Int16(SEEK_SET), l_start: off_t(part.rawValue), l_len: 1, l_pid: 0)
  }
}
