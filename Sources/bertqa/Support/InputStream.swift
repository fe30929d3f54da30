import Glibc

/// A file, or standard input, read piece by piece.
final class InputStream {
  /// How messages name it.
  let shown: String
  /// Bytes of the file; nil for pipes and their like.
  let size: Int?
  private let descriptor: Int32
  private var piece = [UInt8](repeating: 0, count: 1 << 18)

  /// Opens the file of this name, "-" for standard input.
  init(_ name: ArgumentText) throws(ToolError) {
    let isStandardInput = strcmp(name.pointer, "-") == 0
    shown = isStandardInput ? "standard input" : name.string
    descriptor = isStandardInput ? STDIN_FILENO : open(name.pointer, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.error(shown, errno) }
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    size = isFile ? Int(status.st_size) : nil
  }

  deinit {
    if descriptor > STDIN_FILENO { close(descriptor) }
  }

  /// The next bytes; empty at the end.
  func read() throws(ToolError) -> ArraySlice<UInt8> {
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      if count >= 0 { return piece[..<count] }
      guard errno == EINTR else { throw Self.error(shown, errno) }
    }
  }

  private static func error(_ shown: String, _ number: Int32) -> ToolError {
    ToolError(.input, "cannot read \(shown): \(String(cString: strerror(number)))")
  }
}
