import Glibc

/// The file of failed records in their original form. Several runs may append to it concurrently: each record
/// is written in one call or, if it comes in parts, under a lock.
final class DeadLetters {
  let shown: String
  private let descriptor: Int32
  /// True if it is a regular file that was opened here.
  private let isRegularFile: Bool
  /// The path of such a file if it led to the file when it was opened.
  private let path: ArgumentText?
  /// True from the first part of a record to the last. The write lock is then held.
  private var isInsideRecord = false
  /// The file's size before the record; nil if others may append at the same time.
  private var sizeBefore: off_t?
  /// For a resumable run, which owns the file: its size in bytes and its hash.
  private(set) var length = 0
  private(set) var hash: ContentHash?

  /// - Parameter isResumable: true if this run owns the file.
  init(path: ArgumentText, isResumable: Bool) throws(ToolError) {
    shown = path.string
    if let stream = FilePlace(path: path.pointer).standardStream {
      (descriptor, isRegularFile, self.path) = (stream, false, nil)
      return
    }
    descriptor = open(path.pointer, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw FileWriting.failed(shown, errno) }
    isRegularFile = status.st_mode & S_IFMT == S_IFREG
    self.path = isRegularFile && FileWriting.leads(path, to: descriptor) ? path : nil
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
  /// - Parameters:
  ///   - header: the first line of an empty file.
  ///   - lineEnds: what may end a record; empty if records have no line ends.
  func append(
    _ bytes: [UInt8], header: [UInt8], lineEnds: [[UInt8]], isLast: Bool
  ) throws(ToolError) {
    let isFirst = !isInsideRecord
    if isFirst { try lock() }
    do throws(ToolError) {
      if isFirst, isRegularFile { try write(beginning(header, lineEnds)) }
      try write(bytes)
    } catch {
      // The next record would continue what was written of this one.
      if let sizeBefore { ftruncate(descriptor, sizeBefore) }
      throw error
    }
    if isLast { unlock() }
  }

  /// Returns what has to precede a record: the header in an empty file, and a line end behind a record of which a run
  /// that was killed has written a part.
  private func beginning(_ header: [UInt8], _ lineEnds: [[UInt8]]) -> [UInt8] {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return header }
    guard let lineEnd = lineEnds.first else { return [] }
    var end = [UInt8](repeating: 0, count: lineEnd.count)
    let count = pread(descriptor, &end, end.count, max(0, status.st_size - off_t(end.count)))
    return count < end.count || lineEnds.contains(end) ? [] : lineEnd
  }

  func sync() throws(ToolError) {
    guard fdatasync(descriptor) == 0 || errno == EINVAL else { throw FileWriting.failed(shown, errno) }
  }

  private func lock() throws(ToolError) {
    isInsideRecord = true
    guard isRegularFile else { return }
    if let path { try FileWriting.check(path, leadsTo: descriptor) }
    let number = FileLock.wait(.writing, of: descriptor)
    // Some file systems do not support locks; single writes do not need them.
    if number != 0, number != ENOLCK, number != EOPNOTSUPP { throw FileWriting.failed(shown, number) }
    var status = stat()
    sizeBefore = number == 0 && fstat(descriptor, &status) == 0 ? status.st_size : nil
  }

  private func unlock() {
    isInsideRecord = false
    if isRegularFile { FileLock.giveBack(.writing, of: descriptor) }
  }

  private func write(_ bytes: [UInt8]) throws(ToolError) {
    let number = bytes.withUnsafeBytes { FileWriting.write($0, to: descriptor) }
    guard number == 0 else { throw FileWriting.failed(shown, number) }
    length += bytes.count
    bytes.withUnsafeBytes { hash?.update($0) }
  }
}
