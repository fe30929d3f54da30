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
  /// or the new. What is not a regular file, or is the file of standard output or error, is written to.
  static func replace(_ path: String, with text: String) throws(ToolError) {
    let place = FilePlace(path: path)
    guard isSpecial(place) else {
      try checkIsFree(path)
      let descriptor = try replaceFile(path, with: text, isDurable: false) { _ in 0 }
      close(descriptor)
      return
    }
    let stream = place.standardStream
    let descriptor = stream ?? open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw failed(path, errno) }
    defer { if stream == nil { close(descriptor) } }
    let number = Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) }
    if number != 0 { throw failed(path, number) }
  }

  /// Replaces a regular file, and gives a descriptor of the new one.
  /// - Parameters:
  ///   - isDurable: whether to return only when it is on the disk.
  ///   - prepare: called with the new file's descriptor before it takes its place; gives errno or 0.
  static func replaceFile(
    _ path: String, with text: String, isDurable: Bool, _ prepare: (Int32) -> Int32
  ) throws(ToolError) -> Int32 {
    let path = resolved(path)
    let temporary = "\(path).\(getpid())\(temporarySuffix)"
    let descriptor = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failed(temporary, errno) }
    var number = Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) }
    if number == 0, isDurable, fsync(descriptor) != 0 { number = errno }
    if number == 0 { number = prepare(descriptor) }
    if number == 0, rename(temporary, path) != 0 { number = errno }
    guard number == 0 else {
      unlink(temporary)
      close(descriptor)
      throw failed(path, number)
    }
    if isDurable { syncDirectory(of: path) }
    return descriptor
  }

  private static let temporarySuffix = ".tmp"

  /// Removes what runs that were killed left of files that were to replace `path`.
  static func removeLeftovers(of path: String) {
    let (directory, name) = split(resolved(path))
    for entry in names(in: directory) where entry.hasPrefix("\(name).") && entry.hasSuffix(temporarySuffix) {
      let middle = entry.dropFirst(name.utf8.count + 1).dropLast(temporarySuffix.utf8.count)
      if let process = pid_t(middle), isGone(process) { unlink("\(directory)/\(entry)") }
    }
  }

  /// Whether no process has this number.
  static func isGone(_ process: pid_t) -> Bool {
    process > 0 && kill(process, 0) != 0 && errno == ESRCH
  }

  static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
        })
    }
    return names
  }

  /// The directory of a path, and the name in it.
  static func split(_ path: String) -> (directory: String, name: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let isInRoot = parts.count == 2 && parts[0].isEmpty
    let directory = parts.count < 2 ? "." : isInRoot ? "/" : parts.dropLast().joined(separator: "/")
    return (directory, String(parts.last ?? ""))
  }

  /// Throws if a file of this name could not be made or replaced now.
  static func prepare(toReplace path: String) throws(ToolError) {
    let place = FilePlace(path: path)
    if place.kind == S_IFDIR { throw failed(path, EISDIR) }
    if isSpecial(place) { return }
    removeLeftovers(of: path)
    let (directory, _) = split(resolved(path))
    if access(directory, W_OK | X_OK) != 0 { throw failed(path, errno) }
    try checkIsFree(path)
  }

  /// Whether a file has no bytes or these at its beginning; false if it cannot be read.
  static func isEmpty(_ path: String, orBeginsWith text: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: text.utf8.count)
    let count = read(descriptor, &bytes, bytes.count)
    return count == 0 || count == bytes.count && bytes.elementsEqual(text.utf8)
  }

  /// Whoever writes the file would go on with one that has no name any more.
  private static func checkIsFree(_ path: String) throws(ToolError) {
    if let process = FileLock.holder(ofFileAt: path) { throw inUse(path, process) }
  }

  static func inUse(_ shown: String, _ process: pid_t) -> ToolError {
    ToolError(.input, "\(shown) is in use: process \(process) is writing it")
  }

  private static func isSpecial(_ place: FilePlace) -> Bool {
    place.identity != nil && (place.kind != S_IFREG || place.standardStream != nil)
  }

  /// Where symbolic links lead, so that the file is replaced and not the link.
  static func resolved(_ path: UnsafePointer<CChar>) -> String {
    guard let name = realpath(path, nil) else { return String(cString: path) }
    defer { free(name) }
    return String(cString: name)
  }

  /// So that the new name outlives a crash of the machine.
  private static func syncDirectory(of path: String) {
    let descriptor = open(split(path).directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func failed(_ path: String, _ number: Int32) -> ToolError {
    ToolError(.resources, "cannot write \(path): \(String(cString: strerror(number)))")
  }
}
