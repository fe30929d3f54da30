/// Divides paths by bytes: Swift takes a slash and a combining mark after it for one Character.
package enum FilePath {
  private static let slash = UInt8(ascii: "/")

  /// Splits a path into its directory and its file name.
  package static func split(_ path: String) -> (directory: String, name: String) {
    guard let end = path.utf8.lastIndex(of: slash) else { return (".", path) }
    let directory = end == path.startIndex ? "/" : String(path[..<end])
    return (directory, String(path[path.utf8.index(after: end)...]))
  }

  /// Returns the path without slashes at its end.
  package static func withoutLastSlash(_ path: String) -> String {
    guard let last = path.utf8.lastIndex(where: { $0 != slash }) else { return String(path.prefix(1)) }
    return String(Substring(path.utf8[...last]))
  }
}
