import Glibc

/// The list of a model's files with the SHA-256 of each, in the format of sha256sum(1): the file SHA256SUMS in the
/// model's directory.
struct ModelManifest {
  static let fileName = "SHA256SUMS"
  /// Bytes, far above those of any model's list.
  static let sizeLimit = 1 << 20

  /// 64 lower-case hexadecimal digits, by the path within the directory.
  private(set) var digests: [String: String] = [:]

  /// - Parameter shown: what messages call it.
  init(_ bytes: [UInt8], shown: String) throws(ToolError) {
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
      guard let (name, digest) = Self.entry(line) else {
        throw ToolError(
          .input,
          "\(shown): line \(index + 1) is not 64 hexadecimal digits, two spaces and the name of a file in this directory"
        )
      }
      guard digests.updateValue(digest, forKey: name) == nil else {
        throw ToolError(.input, "\(shown): line \(index + 1) names \(PlainText.of(name)) again")
      }
    }
    guard !digests.isEmpty else { throw ToolError(.input, "\(shown): lists no file") }
  }

  /// "DIGEST  NAME", or "DIGEST *NAME" as sha256sum --binary writes it. A backslash in front, for names that
  /// contain line ends, is not taken.
  private static func entry(_ line: ArraySlice<UInt8>) -> (name: String, digest: String)? {
    let digest = String(decoding: line.prefix(64), as: UTF8.self).lowercased()
    let separator = line.dropFirst(64).prefix(2)
    let name = String(decoding: line.dropFirst(66), as: UTF8.self)
    guard digest.utf8.count == 64, digest.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }),
      separator.elementsEqual("  ".utf8) || separator.elementsEqual(" *".utf8), isInside(name)
    else { return nil }
    return (name, digest)
  }

  /// Whether the name is that of a file in the directory or below: no step leads out of it.
  private static func isInside(_ name: String) -> Bool {
    !name.isEmpty
      && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !["", ".", ".."].contains($0)
      }
  }
}
