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

  /// Puts a file with these contents in the place of `path`, so that whoever reads it finds the old contents or
  /// the new; what is not a regular file is written to. `isDurable`: it is on the disk on return.
  static func replace(_ path: String, with text: String, isDurable: Bool) throws(ToolError) {
    var status = stat()
    let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    let name = isSpecial ? path : "\(path).\(getpid()).tmp"
    let descriptor = open(name, O_WRONLY | O_CREAT | (isSpecial ? 0 : O_TRUNC) | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failed(name, errno) }
    var number = Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) }
    if number == 0, isDurable, !isSpecial, fsync(descriptor) != 0 { number = errno }
    if close(descriptor) != 0, number == 0 { number = errno }
    if !isSpecial {
      if number == 0, rename(name, path) != 0 { number = errno }
      if number != 0 { unlink(name) }
      if number == 0, isDurable { syncDirectory(of: path) }
    }
    guard number == 0 else { throw failed(path, number) }
  }

  /// So that the new name outlives a crash of the machine.
  private static func syncDirectory(of path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let directory = parts.isEmpty ? "." : parts.count == 1 && parts[0].isEmpty ? "/" : parts.joined(separator: "/")
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func failed(_ path: String, _ number: Int32) -> ToolError {
    ToolError(.resources, "cannot write \(path): \(String(cString: strerror(number)))")
  }
}
