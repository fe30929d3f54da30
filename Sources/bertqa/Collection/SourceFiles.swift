import BertQACore
import Glibc

/// Shows whether a file has changed.
struct SourceStatus: Equatable {
  /// Nanoseconds since 1970.
  let modified: Int64
  let size: Int64

  init(_ status: stat) {
    // A time after 2262 becomes another one, which differs from others as well.
    modified = Int64(RotatedFiles.nanoseconds(status.st_mtim))
    size = Int64(status.st_size)
  }

  init(modified: Int64, size: Int64) {
    self.modified = modified
    self.size = size
  }
}

/// The files that paths name: files themselves, and all files in directories except hidden ones.
struct SourceFiles {
  /// With absolute paths, in the order of the names.
  private(set) var files: [(path: String, status: SourceStatus, identity: FileIdentity)] = []
  /// Paths that cannot be read, with the reason.
  private(set) var problems: [(path: String, reason: String)] = []
  private var seen: Set<FileIdentity>
  private let included: [String]
  private let excluded: [String]

  /// - Parameters:
  ///   - included, excluded: shell patterns for files in directories. Those with a slash are for whole paths, others for
  ///     names; an excluded directory is not read.
  ///   - omitted: files that are not read even if a directory has them.
  init(included: [String], excluded: [String], omitted: Set<FileIdentity>) {
    self.included = included
    self.excluded = excluded
    seen = omitted
  }

  mutating func add(_ path: ArgumentText) {
    guard let resolved = realpath(path.pointer, nil) else {
      let number = errno
      var status = stat()
      // The link /dev/fd/N of a pipe leads to no path.
      guard stat(path.pointer, &status) == 0 else { return fail(path.string, number) }
      problems.append((path.string, Self.isNoFile))
      return
    }
    defer { free(resolved) }
    guard let name = String(validatingCString: resolved) else {
      problems.append((path.string, Self.notUTF8))
      return
    }
    add(name, isNamed: true)
  }

  private mutating func add(_ path: String, isNamed: Bool) {
    var status = stat()
    guard stat(path, &status) == 0, let identity = FileIdentity(path: path) else {
      let number = errno
      // A link that leads nowhere counts as a file.
      if isNamed || number != ENOENT || isChosen(path) { fail(path, number) }
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: addDirectory(path, identity)
    case S_IFREG:
      guard isNamed || isChosen(path), seen.insert(identity).inserted else { return }
      files.append((path, SourceStatus(status), identity))
    default:
      if isNamed { problems.append((path, Self.isNoFile)) }
    }
  }

  private mutating func addDirectory(_ path: String, _ identity: FileIdentity) {
    // A link may lead to a directory above it.
    guard seen.insert(identity).inserted else { return }
    guard let stream = opendir(path) else { return fail(path, errno) }
    closedir(stream)
    let names = FileWriting.names(in: path) { name in
      if !Self.isHidden(name) { problems.append((Self.child(name, of: path), Self.notUTF8)) }
    }
    for name in names.sorted() where !Self.isHidden(name) {
      let child = Self.child(name, of: path)
      if !Self.matches(child, excluded) { add(child, isNamed: false) }
    }
  }

  private static func isHidden(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: ".") }

  private static func child(_ name: String, of directory: String) -> String {
    directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }

  private func isChosen(_ path: String) -> Bool { included.isEmpty || Self.matches(path, included) }

  private static func matches(_ path: String, _ patterns: [String]) -> Bool {
    let name = FilePath.split(path).name
    return patterns.contains { fnmatch($0, $0.utf8.contains(UInt8(ascii: "/")) ? path : name, 0) == 0 }
  }

  private static let isNoFile = "is neither a regular file nor a directory: pass - to index standard input"
  private static let notUTF8 = "its name is not valid UTF-8"

  private mutating func fail(_ path: String, _ number: Int32) {
    problems.append((path, String(cString: strerror(number))))
  }
}
