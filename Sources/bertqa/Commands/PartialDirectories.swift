import Glibc

/// Directories of incomplete models that killed processes left.
enum PartialDirectories {
  /// Removes the directories "PATH.partial-PID-N" whose processes no longer exist.
  static func remove(of path: String) {
    var path = path
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    let (directory, name) = FileWriting.split(path)
    let prefix = "\(name).partial-"
    for entry in FileWriting.names(in: directory) where entry.hasPrefix(prefix) {
      let parts = entry.dropFirst(prefix.utf8.count).split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, let process = pid_t(parts[0]), Int(parts[1]) != nil, FileWriting.isGone(process)
      else { continue }
      let partial = "\(directory)/\(entry)"
      for file in FileWriting.names(in: partial) where file != "." && file != ".." {
        unlink("\(partial)/\(file)")
      }
      rmdir(partial)
    }
  }
}
