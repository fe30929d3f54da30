import BertQACore
import Glibc

/// The file with the names of a run and what they replace, one JSON object a line. Only its owner can read it, and one
/// run at a time can use it. A name is in the file before it is in an output.
final class MappingFile {
  let shown: String
  /// The size in bytes of the names that were read and written, and their hash.
  private(set) var length = 0
  private(set) var hash = ContentHash()
  private let descriptor: Int32
  private let names: Pseudonyms
  /// The number of names in the file.
  private var savedCount = 0
  /// The lengths and hashes after each name that was in the file at the beginning.
  private var ends: [(length: Int, hash: ContentHash)] = []
  /// True if the file ends in an incomplete line, or has more than is kept.
  private var isLonger = false

  /// Opens or creates the file, locks it, and adds its names to `names`, which has none.
  init(_ path: ArgumentText, _ names: Pseudonyms) throws(ToolError) {
    shown = path.string
    self.names = names
    descriptor = open(path.pointer, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw FileWriting.failed(shown, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ToolError(.input, "\(shown) is not a regular file, which --mapping needs")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw ToolError(
        .input, "\(shown) holds secrets, but others may read it: run 'chmod 600 \(shown)'")
    }
    switch FileLock.take(.whole, of: descriptor) {
    case .heldBy(let process): throw FileWriting.inUse(shown, process)
    case .failed(let number): throw FileWriting.failed(shown, number)
    case .taken: break
    }
    // A second descriptor would end the lock when it is closed.
    let (file, shown) = (descriptor, shown)
    try MappingLines.read(shown: shown, into: names) { room throws(ToolError) in
      while true {
        let count = Glibc.read(file, room.baseAddress, room.count)
        if count >= 0 { return count }
        if errno != EINTR { throw Input.error(shown, errno) }
      }
    } line: { line in
      length += line.count
      hash.update(UnsafeRawBufferPointer(line))
      ends.append((length, hash))
    }
    savedCount = names.count
    isLonger = Int(status.st_size) > length
  }

  deinit { close(descriptor) }

  /// Forgets the names that a checkpoint does not have. Throws if the file does not begin with its names.
  func resume(length: Int, hash: UInt64) throws(ToolError) {
    let count = length == 0 ? 0 : (ends.firstIndex { $0.length == length } ?? -1) + 1
    let kept = count == 0 ? (length: 0, hash: ContentHash()) : ends[count - 1]
    guard kept.length == length, kept.hash.value == hash else {
      throw FilterCheckpoint.changed(shown)
    }
    isLonger = isLonger || length < self.length
    (self.length, self.hash) = kept
    names.removeAll(from: count)
    savedCount = count
  }

  /// Appends the new names. Call it before an output has them.
  func save() throws(ToolError) {
    if isLonger, ftruncate(descriptor, off_t(length)) != 0 { throw FileWriting.failed(shown, errno) }
    isLonger = false
    let new = names.entries(from: savedCount)
    if new.isEmpty { return }
    var lines: [UInt8] = []
    for entry in new {
      var writer = JSONWriter()
      writer.object { writer in
        writer.string("name", entry.name)
        writer.string("value", entry.value)
      }
      lines += writer.takeLine()
    }
    let number = lines.withUnsafeBytes { FileWriting.write($0, to: descriptor) }
    guard number == 0 else { throw FileWriting.failed(shown, number) }
    length += lines.count
    lines.withUnsafeBytes { hash.update($0) }
    savedCount += new.count
  }

  func sync() throws(ToolError) {
    guard fdatasync(descriptor) == 0 else { throw FileWriting.failed(shown, errno) }
  }
}

/// The lines of mapping files.
enum MappingLines {
  /// Adds the names of a file, and calls `body` with each line. A last line without a line feed was not finished; it is
  /// left out.
  /// - Parameter read: reads more bytes; returns 0 at the end.
  static func read(
    shown: String, into names: Pseudonyms,
    _ read: (UnsafeMutableRawBufferPointer) throws(ToolError) -> Int,
    line body: (UnsafeBufferPointer<UInt8>) -> Void = { _ in }
  ) throws(ToolError) {
    let buffer = ByteBuffer()
    var framer = LineFramer()
    var number = 1
    while try buffer.fill(atMost: 1 << 16, read) > 0 {
      var start = 0
      while let frame = framer.frame(in: buffer.bytes, from: start, isEnd: false) {
        let line = UnsafeBufferPointer(rebasing: buffer.bytes[frame.raw])
        try add(line, "\(shown): line \(number)", to: names)
        body(line)
        start = frame.raw.upperBound
        number += 1
      }
      buffer.removeFirst(start)
      if buffer.count > InputText.limit { throw InputText.tooLarge("\(shown): line \(number)") }
    }
  }

  private static func add(
    _ line: UnsafeBufferPointer<UInt8>, _ shown: String, to names: Pseudonyms
  ) throws(ToolError) {
    do throws(BertQAError) {
      guard case .object(let object) = try JSONParser.parse(line, file: shown),
        case .string(let name) = object["name"], case .string(let value) = object["value"]
      else { throw BertQAError(.invalidArgument, "\(shown): is not an object with a name and a value") }
      do throws(BertQAError) {
        try names.add(name: Array(name.utf8), value: Array(value.utf8))
      } catch {
        throw BertQAError(.invalidArgument, "\(shown): the name \(error.detail)")
      }
    } catch {
      throw ToolError(.input, error.detail)
    }
  }
}
