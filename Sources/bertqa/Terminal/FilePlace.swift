import Glibc

/// Where a path leads: to a file, which is told by what it is and not by its name, or to a free name in a
/// directory.
struct FilePlace {
  /// nil if there is no file.
  let identity: FileIdentity?
  /// The file's type, such as S_IFREG; 0 if there is no file.
  let kind: mode_t
  /// Of the directory that has the file, or would have it; nil if it is not there or not known.
  let directory: FileIdentity?
  /// The file's name in the directory; empty if it is not known.
  let name: String

  /// Of what an argument names: "-" is standard input.
  init(_ name: ArgumentText) {
    self = name.isStandardInput ? FilePlace(descriptor: STDIN_FILENO) : FilePlace(path: name.pointer)
  }

  init(path: UnsafePointer<CChar>) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    identity = isThere ? FileIdentity(status) : nil
    kind = isThere ? status.st_mode & S_IFMT : 0
    let (directory, name) = FileWriting.split(isThere ? FileWriting.resolved(path) : Self.target(of: path))
    self.directory = FileIdentity(path: directory)
    self.name = name
  }

  /// Of an open file.
  init(descriptor: Int32) {
    var status = stat()
    let isThere = fstat(descriptor, &status) == 0
    identity = isThere ? FileIdentity(status) : nil
    kind = isThere ? status.st_mode & S_IFMT : 0
    directory = nil
    name = ""
  }

  func isSame(as other: FilePlace) -> Bool {
    if identity != nil || other.identity != nil { return identity == other.identity }
    return directory != nil && directory == other.directory && name == other.name
  }

  /// Whether its bytes are kept: a file or a name for one, but no terminal, pipe or socket.
  var isStored: Bool { ![S_IFCHR, S_IFIFO, S_IFSOCK].contains(kind) }

  /// The descriptor of standard output or standard error, if the place is the file that one of them writes.
  /// Opening the file once more would write over what goes there.
  var standardStream: Int32? {
    guard let identity else { return nil }
    return [STDOUT_FILENO, STDERR_FILENO].first { descriptor in
      FileIdentity(descriptor: descriptor) == identity
        && fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY
    }
  }

  /// Where symbolic links lead that end at a file that is not there.
  private static func target(of path: UnsafePointer<CChar>) -> String {
    var path = String(cString: path)
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    for _ in 0..<40 {
      while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
      let count = readlink(path, &buffer, buffer.count - 1)
      guard count > 0 else { break }
      let link = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = link.hasPrefix("/") ? link : "\(FileWriting.split(path).directory)/\(link)"
    }
    return path
  }
}
