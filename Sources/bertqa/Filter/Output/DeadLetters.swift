import Glibc

/// The file of failed records in their original form. Several runs may append to it concurrently: each record
/// is written in one call or, if it comes in parts, under a lock.
final class DeadLetters {
  let shown: String
  private let descriptor: Int32
  /// True if it is a regular file that was opened here.
  private let isRegularFile: Bool
  /// True if such a file had a name when it was opened.
  private let isNamed: Bool
  /// True if the write lock is held between the parts of a record.
  private var isLocked = false
  /// For a resumable run, which owns the file: its size in bytes and its hash.
  private(set) var length = 0
  private(set) var hash: ContentHash?

  /// - Parameter isResumable: true if this run owns the file.
  init(path: ArgumentText, isResumable: Bool) throws(ToolError) {
    shown = path.string
    if let stream = FilePlace(path: path.pointer).standardStream {
      (descriptor, isRegularFile, isNamed) = (stream, false, false)
      return
    }
    descriptor = open(path.pointer, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw FileWriting.failed(shown, errno) }
    isRegularFile = status.st_mode & S_IFMT == S_IFREG
    isNamed = isRegularFile && FileWriting.hasName(descriptor)
    guard isRegularFile else { return }
    let lock =
      isResumable
      ? FileLock.take(.whole, of: descriptor)
      : FileLock.take(.appending, besides: .standardOutput, of: descriptor)
    if case .heldBy(let process) = lock {
      throw ToolError(
        .input, "\(shown) is in use by process \(process): a run with --resume, and an output, need it alone")
    }
    if isResumable {
      length = Int(status.st_size)
      hash = try ContentHash(of: descriptor, shown, upTo: length)
    }
  }

  /// Truncates the file to the size in a checkpoint. Throws if the contents do not match.
  func resume(length: Int, hash expected: UInt64) throws(ToolError) {
    guard isRegularFile else { return }
    let found = try ContentHash(of: descriptor, shown, upTo: length)
    guard self.length >= length, found.value == expected else {
      throw FilterCheckpoint.changed(shown)
    }
    resumed = (length, found)
  }

  private var resumed: (length: Int, hash: ContentHash)?

  /// Call this before the first record, after all checks.
  func begin() throws(ToolError) {
    guard let resumed else { return }
    self.resumed = nil
    guard ftruncate(descriptor, off_t(resumed.length)) == 0 else { throw FileWriting.failed(shown, errno) }
    (length, hash) = (resumed.length, resumed.hash)
  }

  /// Appends a record or a part of one.
  /// - Parameter header: the first line of an empty file.
  func append(_ bytes: [UInt8], header: [UInt8], isLast: Bool) throws(ToolError) {
    if !isLocked { try lock() }
    if !header.isEmpty, isRegularFile, isEmpty { try write(header) }
    try write(bytes)
    if isLast { unlock() }
  }

  func sync() throws(ToolError) {
    guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw FileWriting.failed(shown, errno) }
  }

  private var isEmpty: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_size == 0
  }

  private func lock() throws(ToolError) {
    isLocked = true
    guard isRegularFile else { return }
    if isNamed { try FileWriting.checkHasName(descriptor, shown) }
    let number = FileLock.wait(.writing, of: descriptor)
    // Some file systems do not support locks; single writes do not need them.
    if number != 0, number != ENOLCK, number != EOPNOTSUPP { throw FileWriting.failed(shown, number) }
  }

  private func unlock() {
    isLocked = false
    if isRegularFile { FileLock.giveBack(.writing, of: descriptor) }
  }

  private func write(_ bytes: [UInt8]) throws(ToolError) {
    let number = bytes.withUnsafeBytes { FileWriting.write($0, to: descriptor) }
    guard number == 0 else { throw FileWriting.failed(shown, number) }
    length += bytes.count
    bytes.withUnsafeBytes { hash?.update($0) }
  }
}
