import BertQACore
import Glibc

/// The target of a path: an existing file, identified independently of its name, or an unused name in a
/// directory.
struct FilePlace {
  /// nil if there is no file.
  let identity: FileIdentity?
  /// The file's type, such as S_IFREG; 0 if there is no file.
  let kind: mode_t
  /// The directory of the file or of the unused name; nil if it does not exist or is not known.
  let directory: FileIdentity?
  /// The file's name in the directory; empty if not known.
  let name: String

  /// Resolves an argument; "-" is standard input.
  init(_ name: ArgumentText) {
    self = name.isStandardInput ? FilePlace(descriptor: STDIN_FILENO) : FilePlace(path: name.pointer)
  }

  init(path: UnsafePointer<CChar>) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    identity = FileIdentity(path: path)
    kind = isThere ? status.st_mode & S_IFMT : 0
    let (directory, name) = FilePath.split(FileWriting.target(of: path))
    self.directory = FileIdentity(path: directory)
    self.name = name
  }

  /// Describes an open file.
  init(descriptor: Int32) {
    var status = stat()
    let isThere = fstat(descriptor, &status) == 0
    identity = FileIdentity(descriptor: descriptor)
    kind = isThere ? status.st_mode & S_IFMT : 0
    directory = nil
    name = ""
  }

  func isSame(as other: FilePlace) -> Bool {
    if identity != nil || other.identity != nil { return identity == other.identity }
    return directory != nil && directory == other.directory && name == other.name
  }

  /// True for a file or an unused name; false for a terminal, pipe or socket.
  var isStored: Bool { ![S_IFCHR, S_IFIFO, S_IFSOCK].contains(kind) }

  /// The descriptor of standard output or standard error if it writes to this file. Opening the file a second
  /// time would overwrite that output.
  var standardStream: Int32? {
    guard let identity else { return nil }
    return [STDOUT_FILENO, STDERR_FILENO].first { descriptor in
      FileIdentity(descriptor: descriptor) == identity
        && fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY
    }
  }
}
