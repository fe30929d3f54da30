import Glibc

/// What comparing a model's directory with its manifest finds.
struct ModelVerification {
  enum Finding: String {
    case same = "ok"
    case changed
    /// In the manifest, but not in the directory.
    case missing
    /// In the directory, but not in the manifest.
    case extra
    /// Neither a file nor a directory, such as a FIFO: not opened.
    case special
    case unreadable
  }

  let directory: String
  /// Every file of the manifest and of the directory, by name.
  let files: [(name: String, finding: Finding)]

  var isVerified: Bool { files.allSatisfy { $0.finding == .same } }

  /// - Throws: `.input` where there is no manifest, or none that can be read.
  init(directory: String) throws(ToolError) {
    let path = "\(directory)/\(ModelManifest.fileName)"
    let manifest = try ModelManifest(Self.contents(path), shown: path)
    var findings: [String: Finding] = manifest.digests.mapValues { _ in .missing }
    for (name, kind) in try Self.entries(of: directory) where name != ModelManifest.fileName {
      guard let digest = manifest.digests[name] else {
        findings[name] = .extra
        continue
      }
      findings[name] = kind == .file ? Self.compare("\(directory)/\(name)", digest) : .special
    }
    self.directory = directory
    files = findings.map { (name: $0.key, finding: $0.value) }.sorted { $0.name < $1.name }
  }

  private enum Kind {
    case file
    case directory
    case special
    /// Such as a symbolic link that leads nowhere.
    case absent
  }

  /// What lies in the directory and in those below it, but for the directories themselves. Links are followed to
  /// files only, so that none leads round in a circle.
  private static func entries(of directory: String) throws(ToolError) -> [(name: String, kind: Kind)] {
    var entries: [(name: String, kind: Kind)] = []
    var pending = [""]
    while let prefix = pending.popLast() {
      let path = prefix.isEmpty ? directory : "\(directory)/\(prefix)"
      guard access(path, R_OK | X_OK) == 0 else {
        throw ToolError(.input, "\(path): cannot list: \(String(cString: strerror(errno)))")
      }
      for entry in FileWriting.names(in: path) where entry != "." && entry != ".." {
        let name = prefix.isEmpty ? entry : "\(prefix)/\(entry)"
        switch kind(of: "\(directory)/\(name)") {
        case .directory: pending.append(name)
        case .absent: continue
        case let kind: entries.append((name, kind))
        }
      }
    }
    return entries
  }

  private static func kind(of path: String) -> Kind {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .absent }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .directory
    case S_IFLNK:
      guard stat(path, &status) == 0 else { return .absent }
      return status.st_mode & S_IFMT == S_IFREG ? .file : .special
    default: return .special
    }
  }

  private static func compare(_ path: String, _ digest: String) -> Finding {
    var hash = SHA256()
    let number = read(path, limit: .max) { hash.update($0) }
    guard number == 0 else { return .unreadable }
    return hash.finish() == digest ? .same : .changed
  }

  private static func contents(_ path: String) throws(ToolError) -> [UInt8] {
    var status = stat()
    guard stat(path, &status) == 0 || errno != ENOENT else {
      throw ToolError(.input, "\(path): no such file: nothing says what this model's files must be")
    }
    var bytes: [UInt8] = []
    let number = read(path, limit: ModelManifest.sizeLimit) { bytes.append(contentsOf: $0) }
    guard number == 0 else {
      let what =
        number == EFBIG ? "has more than \(ModelManifest.sizeLimit) bytes" : String(cString: strerror(number))
      throw ToolError(.input, "\(path): \(what)")
    }
    return bytes
  }

  /// Hands over a regular file's bytes, piece by piece. Returns 0 or what failed: EFBIG for more bytes than the
  /// limit, EINVAL for a file of another kind.
  private static func read(_ path: String, limit: Int, _ body: (UnsafeRawBufferPointer) -> Void) -> Int32 {
    // O_NONBLOCK: a FIFO that was put there meanwhile must not be waited for.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return errno }
    guard status.st_mode & S_IFMT == S_IFREG else { return EINVAL }
    var rest = limit
    return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      while true {
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return count == 0 ? 0 : errno }
        rest -= count
        guard rest >= 0 else { return EFBIG }
        body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer).prefix(count)))
      }
    }
  }
}
