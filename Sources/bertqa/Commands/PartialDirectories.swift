import BertQACore
import Glibc

/// Directories of incomplete models that killed processes left.
enum PartialDirectories {
  /// Removes the directories "PATH.partial-PID-N" whose processes no longer exist.
  static func remove(of path: String) {
    let (directory, name) = FilePath.split(FilePath.withoutLastSlash(path))
    let prefix = "\(name).partial-"
    for entry in FileWriting.names(in: directory) where entry.hasPrefix(prefix) {
      let parts = entry.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, let process = pid_t(parts[0]), Int(parts[1]) != nil, FileWriting.isGone(process)
      else { continue }
      let partial = "\(directory)/\(entry)"
      remove(directory: partial, depth: 1)
    }
  }

  /// - Parameter depth: of its folders.
  private static func remove(directory: String, depth: Int) {
    for file in FileWriting.names(in: directory) {
      let path = "\(directory)/\(file)"
      if unlink(path) != 0, depth > 0 { remove(directory: path, depth: depth - 1) }
    }
    rmdir(directory)
  }
}
