import BertQACore
import Glibc

extension FileWriting {
  /// Returns the path and the targets of the symbolic links that it leads through. The last of them is no link, and need
  /// not exist. Returns nil if one is not valid UTF-8: as a string it would be another path.
  static func links(from path: UnsafePointer<CChar>) -> [String]? {
    guard let path = String(validatingCString: path) else { return nil }
    var paths = [FilePath.withoutLastSlash(path)]
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    // The system follows as many.
    while paths.count <= 40, let last = paths.last {
      let count = readlink(last, &buffer, buffer.count)
      guard count > 0 else { break }
      guard let link = String(validating: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      else { return nil }
      let isAbsolute = link.utf8.first == UInt8(ascii: "/")
      paths.append(
        FilePath.withoutLastSlash(isAbsolute ? link : "\(FilePath.split(last).directory)/\(link)"))
    }
    return paths
  }

  /// Follows symbolic links, so that the file is replaced and not the link. The file need not exist.
  static func target(of path: UnsafePointer<CChar>) -> String {
    links(from: path)?.last ?? String(cString: path)
  }

  /// Removes a file, and leaves the symbolic links that lead to it.
  static func remove(_ path: UnsafePointer<CChar>) {
    if let target = links(from: path)?.last { unlink(target) } else { unlink(path) }
  }

  /// Returns the absolute path without symbolic links; the path as it is if there is no file, or if the absolute path is
  /// not valid UTF-8.
  static func resolved(_ path: UnsafePointer<CChar>) -> String {
    let name = realpath(path, nil)
    defer { free(name) }
    return name.flatMap { String(validatingCString: $0) } ?? String(cString: path)
  }
}
