import Glibc

/// A regular file, mapped read-only: processes that map the same file share its pages.
///
/// As with any mapping, the file must not be cut short while it is in use; replacing it by renaming
/// another over it is safe.
final class MappedFile: @unchecked Sendable {
  // Sendable: the mapping is read-only and lives until deinit.

  let path: String
  /// The file's contents; without base address if it is empty. Valid as long as this object: use
  /// `withBytes` where nothing else keeps it.
  let bytes: UnsafeRawBufferPointer

  init(path: String) throws(BertQAError) {
    self.path = path
    guard !path.utf8.contains(0) else {
      throw BertQAError(.invalidArgument, "a path contains a NUL: \(quoted(path))")
    }
    // O_NONBLOCK: opening a FIFO must fail below, not wait for a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .system("open", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("read its status", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw BertQAError(.io, "\(path): not a regular file")
    }
    guard let size = Int(exactly: status.st_size), size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let mapping, mapping != MAP_FAILED else { throw .system("map", path) }
    bytes = UnsafeRawBufferPointer(start: mapping, count: size)
  }

  deinit {
    if let base = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: base), bytes.count) }
  }

  /// Runs `body` on the contents, mapped until it returns.
  func withBytes<Result: ~Copyable>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(bytes.bindMemory(to: UInt8.self))
  }

  /// Whether there is something at `path`, of whatever kind.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return !path.utf8.contains(0) && stat(path, &status) == 0
  }
}
