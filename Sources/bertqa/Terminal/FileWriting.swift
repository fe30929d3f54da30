import BertQACore
import Glibc

/// Writes to descriptors and replaces files.
enum FileWriting {
  /// Writes all of `bytes`, also to a non-blocking descriptor. Returns 0 or errno.
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

  /// Returns a descriptor at the beginning of a new file without a name. The file is gone when its last descriptor is
  /// closed. Started programs inherit the descriptor.
  /// - Parameter fill: calls the function that it is given with the contents, in parts.
  static func temporary(
    _ fill: ((UnsafeRawBufferPointer) throws(ToolError) -> Void) throws(ToolError) -> Void
  ) throws(ToolError) -> Int32 {
    guard let file = tmpfile() else { throw ToolError.system("cannot make a temporary file", errno) }
    defer { fclose(file) }
    try fill { bytes throws(ToolError) in
      let number = write(bytes, to: fileno(file))
      if number != 0 { throw failed("a temporary file", number) }
    }
    let descriptor = dup(fileno(file))
    guard descriptor >= 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw failed("a temporary file", errno)
    }
    return descriptor
  }

  /// Replaces the file at `path` atomically: readers see the old contents or the new. Special files, and the
  /// files of standard output and error, are written to instead.
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

  /// Replaces a regular file and returns a descriptor of the new one.
  /// - Parameters:
  ///   - isDurable: true returns only after the file is on disk.
  ///   - prepare: called with the new file's descriptor before the file is renamed into place; returns 0 or
  ///     errno.
  static func replaceFile(
    _ path: String, with text: String, isDurable: Bool, _ prepare: (Int32) -> Int32
  ) throws(ToolError) -> Int32 {
    let path = target(of: path)
    let temporary = "\(path).\(getpid())\(temporarySuffix)"
    // A private file stays private.
    var status = stat()
    let mode = stat(path, &status) == 0 ? status.st_mode & 0o666 : 0o666
    // A link of this name is another user's in a directory that both can write.
    let descriptor = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode)
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

  /// Removes temporary files that killed runs left when they were replacing `path`.
  static func removeLeftovers(of path: String) {
    let (directory, name) = FilePath.split(target(of: path))
    for entry in names(in: directory) where entry.hasPrefix("\(name).") && entry.hasSuffix(temporarySuffix) {
      let middle = entry.dropFirst(name.count + 1).dropLast(temporarySuffix.count)
      if let process = pid_t(middle), isGone(process) { unlink("\(directory)/\(entry)") }
    }
  }

  /// True if no process has this ID.
  static func isGone(_ process: pid_t) -> Bool {
    process > 0 && kill(process, 0) != 0 && errno == ESRCH
  }

  /// Returns the names in a directory that are valid UTF-8.
  /// - Parameter leftOut: called with each other name, repaired. A path with it leads nowhere.
  static func names(in directory: String, leftOut: (String) -> Void = { _ in }) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 1) { name in
          if let valid = String(validatingCString: name) {
            if valid != ".", valid != ".." { names.append(valid) }
          } else {
            leftOut(String(cString: name))
          }
        }
      }
    }
    return names
  }

  /// Throws if the file cannot be created or replaced now.
  static func prepare(toReplace path: String) throws(ToolError) {
    let place = FilePlace(path: path)
    if place.kind == S_IFDIR { throw failed(path, EISDIR) }
    if isSpecial(place) { return }
    removeLeftovers(of: path)
    let (directory, _) = FilePath.split(target(of: path))
    if access(directory, W_OK | X_OK) != 0 { throw failed(path, errno) }
    try checkIsFree(path)
  }

  /// True if a file is empty or begins with `text`; false if it cannot be read.
  static func isEmpty(_ path: String, orBeginsWith text: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: text.utf8.count)
    let count = read(descriptor, &bytes, bytes.count)
    return count == 0 || count == bytes.count && bytes.elementsEqual(text.utf8)
  }

  /// Throws if a process is writing the file. After the replacement it would continue to write an unlinked
  /// file.
  private static func checkIsFree(_ path: String) throws(ToolError) {
    if let process = FileLock.holder(ofFileAt: path) { throw inUse(path, process) }
  }

  static func inUse(_ shown: String, _ process: pid_t) -> ToolError {
    ToolError(.input, "\(shown) is in use: process \(process) is writing it")
  }

  /// True if a file with this path would be the open file, which has a name: /dev/fd/N may lead to one without.
  static func leads(_ path: ArgumentText, to descriptor: Int32) -> Bool {
    var (opened, found) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && opened.st_nlink > 0 && stat(path.pointer, &found) == 0
      && opened.st_dev == found.st_dev && opened.st_ino == found.st_ino
  }

  /// Throws if a path that led to the open file no longer does: who reads the path would miss what is written.
  static func check(_ path: ArgumentText, leadsTo descriptor: Int32) throws(ToolError) {
    if leads(path, to: descriptor) { return }
    throw ToolError(
      .resources, "\(path.string) was removed or replaced by another program while it was written")
  }

  private static func isSpecial(_ place: FilePlace) -> Bool {
    place.identity != nil && (place.kind != S_IFREG || place.standardStream != nil)
  }

  /// Syncs the directory, so that the new name survives a system crash.
  private static func syncDirectory(of path: String) {
    let descriptor = open(FilePath.split(path).directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  static func failed(_ path: String, _ number: Int32) -> ToolError {
    .system("cannot write \(path)", number)
  }
}
