import Glibc

/// The source of a model's files: a directory (by path or descriptor) or memory.
///
/// A file name has no directory part, such as `config.json`, or one, such as `1_Pooling/config.json`.
public struct ModelDirectory: Sendable {
  private enum Source: Sendable {
    case directory(Descriptor)
    /// A path at which no directory could be opened, and the error number.
    case unopened(Int32)
    case files([String: ModelFile])
  }

  /// The directory's name in messages: its path if the caller passed one.
  public let name: String
  private let source: Source
  /// Where files without a folder are; "": in the directory itself.
  private(set) var folder = ""
  private var load = ModelLoad.mmap
  private var mapped: MappedFiles?
  private var opened: OpenedFiles?
  /// Polled while files are read and parsed.
  private(set) var monitor = CallMonitor(CallOptions())

  /// The directory at `path`. It is opened once, here: all files come from this directory even if another one
  /// takes its name later. If it cannot be opened, reading a file throws.
  public init(path: String) {
    name = path
    guard !path.utf8.contains(0) else {
      source = .unopened(EINVAL)
      return
    }
    // O_PATH needs no permission to list the directory.
    let flags = Descriptor.openPath | O_DIRECTORY | O_CLOEXEC
    var descriptor = open(path, flags)
    while descriptor < 0, errno == EINTR { descriptor = open(path, flags) }
    source = descriptor >= 0 ? .directory(Descriptor(owning: descriptor)) : .unopened(errno)
  }

  /// The directory that `descriptor` is open on. The descriptor is duplicated, so the caller may close it. No
  /// path is used, so a process without access to the root of the file system can load a model.
  /// - Throws: `.invalidArgument` if it is not a directory, `.io` if it cannot be duplicated.
  public init(descriptor: Int32, name: String = "model directory") throws(BertQAError) {
    self.name = name
    source = .directory(try Descriptor(duplicating: descriptor, name))
  }

  /// Files in memory by name. Copies their contents.
  /// - Throws: `.invalidArgument` for a name that is not a plain file name, `.outOfMemory`.
  public init(files: [String: [UInt8]], name: String = "model in memory") throws(BertQAError) {
    var copies: [String: ModelFile] = [:]
    for (file, bytes) in files {
      try Self.check(file)
      copies[file] = try bytes.withElements { bytes throws(BertQAError) in
        try ModelFile(copying: UnsafeRawBufferPointer(bytes), path: "\(name)/\(file)")
      }
    }
    self.name = name
    source = .files(copies)
  }

  /// Files in memory that the caller owns. The bytes must stay valid and unchanged while the directory or
  /// anything loaded from it lives. Weights are used in place if they are aligned to their elements.
  /// - Throws: `.invalidArgument` for a name that is not a plain file name.
  public init(
    borrowing files: [String: UnsafeRawBufferPointer], name: String = "model in memory"
  ) throws(BertQAError) {
    var borrowed: [String: ModelFile] = [:]
    for (file, bytes) in files {
      try Self.check(file)
      borrowed[file] = ModelFile(borrowing: bytes, path: "\(name)/\(file)")
    }
    self.name = name
    source = .files(borrowed)
  }

  /// Returns the same directory with another way of loading its files.
  /// - Parameter mapped: collects the mapped files of weights.
  func loading(_ load: ModelLoad, _ mapped: MappedFiles? = nil) -> ModelDirectory {
    var directory = self
    (directory.load, directory.mapped) = (load, mapped)
    return directory
  }

  /// Returns the same directory. The names of the files that are opened in it are added to `opened`.
  func recording(_ opened: OpenedFiles) -> ModelDirectory {
    var directory = self
    directory.opened = opened
    return directory
  }

  /// Returns the same directory for one call, whose monitor it polls.
  func asking(_ monitor: CallMonitor) -> ModelDirectory {
    var directory = self
    directory.monitor = monitor
    return directory
  }

  /// Returns another directory with the same way of loading, for the same call.
  func replaced(by path: String) -> ModelDirectory {
    ModelDirectory(path: path).loading(load, mapped).asking(monitor)
  }

  /// Returns the same directory, but files without a folder are in this one. Only those can be read.
  func inFolder(_ folder: String) -> ModelDirectory {
    var directory = self
    directory.folder = folder
    return directory
  }

  /// The name of the file `file` in messages: the directory and the file.
  func path(of file: String) -> String { "\(name)/\(place(of: file))" }

  private func place(of file: String) -> String { folder.isEmpty ? file : "\(folder)/\(file)" }

  /// True if the directory has an entry of any kind with this name.
  func exists(_ file: String) -> Bool {
    let file = place(of: file)
    guard Self.isPlain(file) else { return false }
    switch source {
    case .directory(let directory):
      var status = stat()
      return fstatat(directory.number, file, &status, 0) == 0
    case .unopened: return false
    case .files(let files): return files[file] != nil
    }
  }

  /// - Throws: `.io` if the file does not exist, cannot be read or is not a regular file; `.invalidModel` for
  ///   a name that leaves the directory (a model's own files may contain such names).
  /// - Parameter limit: in bytes; a larger file throws `.tooLarge` before any of it is mapped or read.
  func file(_ file: String, limit: Int = .max) throws(BertQAError) -> ModelFile {
    let path = path(of: file)
    let file = place(of: file)
    guard Self.isPlain(file) else {
      throw BertQAError(.invalidModel, "\(name): \(quoted(file)) is not the name of a file in this directory")
    }
    opened?.add(file)
    switch source {
    case .unopened(let code):
      guard !name.isEmpty else {
        throw BertQAError(.invalidArgument, argument: "model_directory", "is empty")
      }
      guard !name.utf8.contains(0) else {
        throw BertQAError(.invalidArgument, "a path contains a NUL: \(quoted(name))")
      }
      throw MistakenDirectory.error(for: name) ?? .system("open", path, code)
    case .directory(let directory):
      return try ModelFile(
        file, inDirectory: directory.number, path: path, limit: limit, load, monitor
      ).checkedForPointer()
    case .files(let files):
      if let found = files[file] {
        try ModelFile.check(found.bytes.count, limit, path)
        return try found.checkedForPointer()
      }
      throw BertQAError(.io, "\(path): the model in memory has no such file")
    }
  }

  /// Opens a file that is also read after loading.
  func weights(_ name: String) throws(BertQAError) -> ModelFile {
    let file = try file(name)
    if load == .mmap { mapped?.add(file) }
    return file
  }

  /// Reads a JSON file whose top level is an object.
  func object(
    in file: String, limit: Int = ModelFile.configurationLimit
  ) throws(BertQAError) -> ObjectReader {
    try ObjectReader(self.file(file, limit: limit), monitor)
  }

  /// True if no directory could be opened at the path.
  var isUnopened: Bool {
    if case .unopened = source { true } else { false }
  }

  /// True if the name is that of a file in the directory or one level below.
  static func isPlain(_ file: String) -> Bool {
    // By bytes: a slash and a combining mark after it are one Character.
    let parts = file.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count <= 2
      && parts.map(Substring.init).allSatisfy { part in
        !part.isEmpty && part != "." && part != ".." && part.utf8.allSatisfy { $0 >= 0x20 }
      }
  }

  private static func check(_ file: String) throws(BertQAError) {
    guard isPlain(file) else {
      throw BertQAError(
        .invalidArgument, argument: "files", "has \(quoted(file)), which is not a file's name")
    }
  }
}

/// A directory's descriptor. The last owner closes it.
private final class Descriptor: Sendable {
  let number: Int32

  /// O_PATH, which Swift does not import. The number is the same on x86-64 and arm64.
  static var openPath: Int32 { 0o10_000_000 }

  init(owning descriptor: Int32) { number = descriptor }

  init(duplicating descriptor: Int32, _ name: String) throws(BertQAError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw BertQAError(.invalidArgument, "\(name): descriptor \(descriptor) is not open")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw BertQAError(.invalidArgument, "\(name): descriptor \(descriptor) is not open on a directory")
    }
    number = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { throw .system("duplicate the descriptor of", name) }
  }

  deinit { close(number) }
}
