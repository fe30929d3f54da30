import Glibc

/// The arguments of the process.
///
/// Swift's `CommandLine` finds them beside the environment, which is elsewhere if a preloaded library has changed it
/// (libfaketime, fakechroot).
enum CommandArguments {
  /// Returns the arguments as `main` gets them, the tool's name first. They live as long as the process.
  static func read() throws(ToolError) -> (
    values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, count: Int
  ) {
    let bytes = try contents()
    var values: [UnsafeMutablePointer<CChar>?] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: 0) {
      values.append(bytes.baseAddress.map { $0 + start })
      start = end + 1
    }
    let array = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: values.count + 1)
    _ = array.initialize(from: values + [nil])
    guard let base = array.baseAddress, !values.isEmpty else { throw unreadable }
    return (base, values.count)
  }

  /// Returns the arguments, each with a NUL.
  private static func contents() throws(ToolError) -> UnsafeMutableBufferPointer<CChar> {
    let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable }
    defer { close(descriptor) }
    var bytes: [CChar] = []
    var part = [CChar](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable }
      if count == 0 { break }
      bytes += part[..<count]
    }
    let kept = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
    _ = kept.initialize(from: bytes)
    return kept
  }

  private static var unreadable: ToolError {
    ToolError(.input, "cannot read the arguments from /proc/self/cmdline: /proc must be mounted")
  }
}
