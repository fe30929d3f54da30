import Glibc

/// A new file that is being written.
final class OutputFile {
  let path: String
  private var descriptor: Int32

  init(path: String) throws(BertQAError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .system("create", path) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(BertQAError) {
    var rest = bytes
    var offset = offset
    while let base = rest.baseAddress, rest.count > 0 {
      let count = pwrite(descriptor, base, rest.count, offset)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system("write", path) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      offset += count
    }
  }

  /// Flushes the contents to the disk and closes the file.
  func finish() throws(BertQAError) {
    var result = ForkGate.pause { fsync(descriptor) }
    while result != 0, errno == EINTR { result = ForkGate.pause { fsync(descriptor) } }
    guard result == 0 else { throw .system("write", path) }
    result = close(descriptor)
    descriptor = -1
    // On Linux the descriptor is closed even after EINTR.
    guard result == 0 || errno == EINTR else { throw .system("write", path) }
  }
}
