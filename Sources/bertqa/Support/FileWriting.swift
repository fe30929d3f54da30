import Glibc

/// Writing to descriptors and replacing files.
enum FileWriting {
  /// Writes all of `bytes`, also to what does not block. Returns errno of what failed, or 0.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
    var rest = bytes
    while let base = rest.baseAddress, rest.count > 0 {
      let count = Glibc.write(descriptor, base, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      } else if errno == EAGAIN {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&waiting, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Puts a file with these contents in the place of `path`, so that whoever reads it finds the old contents
  /// or the new. What is not a regular file, or a name for an open one such as /dev/stderr, is written to.
  /// - Parameter isDurable: whether to return only when it is on the disk.
  static func replace(_ path: String, with text: String, isDurable: Bool) throws(ToolError) {
    let bytes = Array(text.utf8)
    if isSpecial(path) {
      let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
      guard descriptor >= 0 else { throw failed(path, errno) }
      defer { close(descriptor) }
      let number = bytes.withUnsafeBytes { write($0, to: descriptor) }
      if number != 0 { throw failed(path, number) }
      return
    }
    let path = resolved(path)
    let temporary = "\(path).\(getpid()).tmp"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failed(temporary, errno) }
    var number = bytes.withUnsafeBytes { write($0, to: descriptor) }
    if number == 0, isDurable, fsync(descriptor) != 0 { number = errno }
    if close(descriptor) != 0, number == 0 { number = errno }
    if number == 0, rename(temporary, path) != 0 { number = errno }
    guard number == 0 else {
      unlink(temporary)
      throw failed(path, number)
    }
    if isDurable { syncDirectory(of: path) }
  }

  private static func isSpecial(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG || path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
  }

  /// Where symbolic links lead, so that the file is replaced and not the link.
  private static func resolved(_ path: String) -> String {
    guard let name = realpath(path, nil) else { return path }
    defer { free(name) }
    return String(cString: name)
  }

  /// So that the new name outlives a crash of the machine.
  private static func syncDirectory(of path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let isInRoot = parts.count == 1 && parts[0].isEmpty
    let directory = parts.isEmpty ? "." : isInRoot ? "/" : parts.joined(separator: "/")
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func failed(_ path: String, _ number: Int32) -> ToolError {
    ToolError(.resources, "cannot write \(path): \(String(cString: strerror(number)))")
  }
}
