import Glibc

// Paths are divided by bytes: Swift takes a slash and a combining mark after it for one character.
extension FileWriting {
  private static let slash = UInt8(ascii: "/")

  /// Splits a path into its directory and its file name.
  static func split(_ path: String) -> (directory: String, name: String) {
    guard let end = path.utf8.lastIndex(of: slash) else { return (".", path) }
    let directory = end == path.startIndex ? "/" : String(path[..<end])
    return (directory, String(path[path.utf8.index(after: end)...]))
  }

  /// Returns the path without slashes at its end.
  static func withoutLastSlash(_ path: String) -> String {
    guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return String(path.prefix(1)) }
    return String(Substring(path.utf8[...last]))
  }

  /// Returns the path and the targets of the symbolic links that it leads through. The last of them is no link, and need
  /// not exist. Returns nil if one is not valid UTF-8: as a string it would be another path.
  static func links(from path: UnsafePointer<CChar>) -> [String]? {
    guard let path = String(validatingCString: path) else { return nil }
    var paths = [withoutLastSlash(path)]
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    // The system follows as many.
    while paths.count <= 40, let last = paths.last {
      let count = readlink(last, &buffer, buffer.count)
      guard count > 0 else { break }
      guard let link = String(validating: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      else { return nil }
      paths.append(withoutLastSlash(link.utf8.first == slash ? link : "\(split(last).directory)/\(link)"))
    }
    return paths
  }

  /// Follows symbolic links, so that the file is replaced and not the link. The file need not exist.
  static func target(of path: UnsafePointer<CChar>) -> String {
    links(from: path)?.last ?? String(cString: path)
  }

  /// Returns the absolute path without symbolic links; the path as it is if there is no file, or if the absolute path is
  /// not valid UTF-8.
  static func resolved(_ path: UnsafePointer<CChar>) -> String {
    let name = realpath(path, nil)
    defer { free(name) }
    return name.flatMap { String(validatingCString: $0) } ?? String(cString: path)
  }
}
