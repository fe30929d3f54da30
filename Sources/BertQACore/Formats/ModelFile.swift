import Glibc
import Synchronization

/// The contents of one regular file of a model, in memory or mapped read-only. Processes that map the same
/// file share its pages.
///
/// A mapped file must not be truncated while it is read: that raises SIGBUS. It is safe to replace it by
/// renaming another file over it. `checkIsWhole` detects an earlier truncation.
final class ModelFile: @unchecked Sendable {
  // Sendable: the contents are read-only and live until deinit.

  /// The file's name in messages: its path, or the directory's name and its own.
  let path: String
  /// The file's contents; the base address is nil if it is empty. Valid while this object lives: use
  /// `withBytes` if nothing else keeps it.
  let bytes: UnsafeRawBufferPointer
  private let ownership: Ownership

  private enum Ownership {
    case mapped
    case allocated
    /// The caller owns the bytes and keeps them valid and unchanged.
    case borrowed
  }

  /// The size limit in bytes of `config.json` and other small files, far above any real one.
  static let configurationLimit = 16 << 20
  /// The size limit in bytes of JSON files that list tensors or pieces.
  static let jsonLimit = JSONParser.Limits().bytes
  /// The size limit in bytes of a `vocab.txt`.
  static let vocabularyLimit = 1 << 28

  /// - Parameter limit: in bytes; a larger file throws `.tooLarge` before any of it is mapped or read.
  convenience init(
    path: String, limit: Int = .max, _ load: ModelLoad = .mmap
  ) throws(BertQAError) {
    try self.init(path: path, openedAs: path, in: AT_FDCWD, limit: limit, load, nil)
  }

  /// The file `name` in the directory that `descriptor` is open on. Messages call it `path`.
  convenience init(
    _ name: String, inDirectory descriptor: Int32, path: String, limit: Int = .max, _ load: ModelLoad = .mmap,
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    try self.init(path: path, openedAs: name, in: descriptor, limit: limit, load, monitor)
  }

  /// Memory that the caller keeps valid and unchanged while this object and everything loaded from it live.
  init(borrowing bytes: UnsafeRawBufferPointer, path: String) {
    self.path = path
    self.bytes = bytes
    ownership = .borrowed
  }

  /// A copy of `bytes`, aligned to 64 bytes.
  init(copying bytes: UnsafeRawBufferPointer, path: String) throws(BertQAError) {
    self.path = path
    let copy = try Self.allocate(bytes.count, path)
    if let source = bytes.baseAddress { copy.copyMemory(from: source, byteCount: bytes.count) }
    self.bytes = UnsafeRawBufferPointer(start: copy, count: bytes.count)
    ownership = .allocated
  }

  private init(
    path: String, openedAs name: String, in directory: Int32, limit: Int, _ load: ModelLoad,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    self.path = path
    ownership = load == .copy ? .allocated : .mapped
    guard !name.utf8.contains(0) else {
      throw BertQAError(.invalidArgument, "a path contains a NUL: \(quoted(path))")
    }
    // Opening a device can have side effects. O_NONBLOCK: if a FIFO has replaced the file meanwhile, opening
    // it must fail below instead of waiting for a writer.
    var status = stat()
    let isThere = name.withCString { name in ForkGate.pause { fstatat(directory, name, &status, 0) } } == 0
    guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
      throw BertQAError(.io, "\(path): not a regular file")
    }
    let descriptor = Self.open(name, in: directory)
    guard descriptor >= 0 else { throw .system("open", path) }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw .system("read its status", path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw BertQAError(.io, "\(path): not a regular file")
    }
    guard let size = Int(exactly: status.st_size), size > 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    try Self.check(size, limit, path)
    try Memory.require(size)
    guard load == .mmap else {
      bytes = UnsafeRawBufferPointer(start: try Self.read(size, of: descriptor, path, monitor), count: size)
      return
    }
    let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let mapping, mapping != MAP_FAILED else { throw .system("map", path) }
    bytes = UnsafeRawBufferPointer(start: mapping, count: size)
  }

  private static func open(_ name: String, in directory: Int32) -> Int32 {
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    return name.withCString { name in
      ForkGate.pause {
        var descriptor = openat(directory, name, flags)
        while descriptor < 0, errno == EINTR { descriptor = openat(directory, name, flags) }
        return descriptor
      }
    }
  }

  private static func allocate(_ size: Int, _ path: String) throws(BertQAError) -> UnsafeMutableRawPointer {
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, 64, max(1, size)) == 0, let memory else {
      throw BertQAError(.outOfMemory, "\(path): cannot allocate \(size) bytes")
    }
    return memory
  }

  /// Reads the file's first `size` bytes into memory. Throws `.io` if the file has become shorter.
  private static func read(
    _ size: Int, of descriptor: Int32, _ path: String, _ monitor: CallMonitor?
  ) throws(BertQAError) -> UnsafeMutableRawPointer {
    let memory = try allocate(size, path)
    do throws(BertQAError) {
      var count = 0
      while count < size {
        try monitor?.check()
        let result = ForkGate.pause {
          pread(descriptor, memory + count, min(size - count, readInterval), off_t(count))
        }
        if result < 0, errno == EINTR { continue }
        if result < 0 { throw BertQAError.system("read", path) }
        guard result > 0 else {
          throw BertQAError(.io, "\(path): became shorter while it was read: \(count) of \(size) bytes")
        }
        count += result
      }
    } catch {
      free(memory)
      throw error
    }
    return memory
  }

  /// The number of bytes read between two polls.
  private static let readInterval = 1 << 22

  /// Throws `.io` if the file was truncated since it was mapped, so that reading it would raise SIGBUS. Takes
  /// one system call. Linux before 5.14 does not have it; there nothing is detected.
  func checkIsWhole() throws(BertQAError) {
    guard case .mapped = ownership, let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
    else { return }
    let page = Int(getpagesize())
    let last = base + (bytes.count - 1) / page * page
    guard madvise(last, page, Self.populateRead) != 0, errno == EFAULT else { return }
    throw BertQAError(
      .io,
      "\(path): was truncated or became unreadable while in use; load the model again, and replace "
        + "its files by renaming, or load copies (load = copy)")
  }

  /// MADV_POPULATE_READ, which older headers lack. It fails with EFAULT if reading would raise SIGBUS.
  private static let populateRead: Int32 = 22

  static func check(_ size: Int, _ limit: Int, _ path: String) throws(BertQAError) {
    guard size > limit else { return }
    throw BertQAError(.tooLarge, "\(path): has \(size) bytes, expected at most \(limit)")
  }

  deinit {
    guard let base = UnsafeMutableRawPointer(mutating: bytes.baseAddress) else { return }
    switch ownership {
    case .mapped: munmap(base, bytes.count)
    case .allocated: free(base)
    case .borrowed: break
    }
  }

  /// Runs `body` with the contents, which are valid until it returns.
  func withBytes<Result: ~Copyable>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(bytes.bindMemory(to: UInt8.self))
  }

  /// True if anything exists at `path`.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return !path.utf8.contains(0) && stat(path, &status) == 0
  }
}

/// How a model's files get into memory.
public enum ModelLoad: Int32, Sendable, CaseIterable {
  /// Map the files: processes share the pages, and only what is used is read. Truncating a file in place
  /// while a call reads it raises SIGBUS.
  case mmap = 0
  /// Read the files into this process's memory: later changes to the files have no effect.
  case copy = 1
}

/// The mapped weight files that are still in use.
final class MappedFiles: Sendable {
  private struct Reference: Sendable {
    weak var file: ModelFile?
  }

  private let references = Mutex<[Reference]>([])

  func add(_ file: ModelFile) {
    references.withLock { $0.append(Reference(file: file)) }
  }

  var inUse: [ModelFile] { references.withLock { $0.compactMap(\.file) } }
}

/// The names of the files of a directory that a model was loaded from, each once.
final class OpenedFiles: Sendable {
  private let opened = Mutex<[String]>([])

  func add(_ name: String) {
    opened.withLock { if !$0.contains(name) { $0.append(name) } }
  }

  var names: [String] { opened.withLock { $0 } }
}
