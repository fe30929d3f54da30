import Glibc

/// A directory that appears complete or not at all: files are written to a temporary directory next to it,
/// which `commit` renames.
package final class OutputDirectory {
  let path: String
  private let temporary: String
  private var names: [String] = []
  private var folders: [String] = []
  private var isCommitted = false

  /// `path` must not exist, or must be an empty directory. Its parent must exist and be writable.
  package init(path: String) throws(BertQAError) {
    let path = FilePath.withoutLastSlash(path)
    guard !["", ".", ".."].contains(FilePath.split(path).name), !path.utf8.contains(0) else {
      throw BertQAError(
        .invalidArgument, "\(quoted(path)) cannot be the output directory; name a fresh one")
    }
    try Self.checkFresh(path)
    self.path = path
    temporary = try Self.makeTemporary(for: path)
  }

  deinit {
    guard !isCommitted else { return }
    for name in names { unlink("\(temporary)/\(name)") }
    for folder in folders { rmdir("\(temporary)/\(folder)") }
    rmdir(temporary)
  }

  private static func checkFresh(_ path: String) throws(BertQAError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw .system("examine", path) }
      return
    }
    // No directory can be renamed to these names.
    if status.st_mode & S_IFMT == S_IFLNK {
      throw BertQAError(
        .invalidArgument, "\(path): the output directory is a symbolic link; name a fresh one")
    }
    var parent = stat()
    if stat(FilePath.split(path).directory, &parent) == 0, parent.st_dev != status.st_dev {
      throw BertQAError(
        .invalidArgument, "\(path): the output directory is a mount point; name a fresh one in it")
    }
    guard let stream = opendir(path) else { throw .system("use as output directory", path) }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      guard name == "." || name == ".." else {
        throw BertQAError(
          .invalidArgument,
          "\(path): the output directory is not empty (it has \(quoted(name))); name a fresh one")
      }
    }
  }

  private static func makeTemporary(for path: String) throws(BertQAError) -> String {
    // A private directory stays private.
    var status = stat()
    let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o777
    for attempt in 0..<100 {
      let name = "\(path).partial-\(getpid())-\(attempt)"
      if mkdir(name, mode) == 0 { return name }
      guard errno == EEXIST else { throw .system("create", path) }
    }
    throw BertQAError(.io, "\(path): remove the directories \(path).partial-* first")
  }

  /// Creates a file to write to, in the directory or in a folder of it.
  func makeFile(_ name: String) throws(BertQAError) -> OutputFile {
    if let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")), !folders.contains(String(name[..<slash])) {
      let folder = String(name[..<slash])
      guard mkdir("\(temporary)/\(folder)", 0o777) == 0 else { throw .system("create", folder) }
      folders.append(folder)
    }
    names.append(name)
    return try OutputFile(path: "\(temporary)/\(name)")
  }

  /// Writes a whole file.
  func write(_ bytes: UnsafeRawBufferPointer, to name: String) throws(BertQAError) {
    let file = try makeFile(name)
    try file.write(bytes, at: 0)
    try file.finish()
  }

  func write(_ text: String, to name: String) throws(BertQAError) {
    try Array(text.utf8).withElements { bytes throws(BertQAError) in
      try write(UnsafeRawBufferPointer(bytes), to: name)
    }
  }

  /// Moves the directory into place. Its files are on disk before. The caller can stop the call until then.
  func commit(_ monitor: CallMonitor) throws(BertQAError) {
    for folder in folders { try Self.synchronize("\(temporary)/\(folder)") }
    try Self.synchronize(temporary)
    try monitor.checkNow()
    guard rename(temporary, path) == 0 else { throw .system("put in place", path) }
    isCommitted = true
    // The directory is complete now, so nothing fails any more. A parent directory that may not be read cannot be
    // synchronised: after a crash of the system the directory may be missing.
    try? Self.synchronize(FilePath.split(path).directory)
  }

  private static func synchronize(_ directory: String) throws(BertQAError) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", directory) }
    defer { close(descriptor) }
    guard ForkGate.pause({ fsync(descriptor) }) == 0 else { throw .system("write", directory) }
  }
}
