import Glibc

/// The state of a run on disk, from which a rerun can resume.
struct FilterCheckpoint {
  private static let heading = "bertqa filter checkpoint "
  private static let version = "1"

  /// A file up to an offset.
  struct Extent {
    var identity: FileIdentity
    var length: Int
    var hash: UInt64
  }

  /// The hash of the meaning of the options, and of the version.
  var settings: UInt64
  /// The hash of the model's files.
  var model: UInt64
  /// The input up to the position where the rerun resumes. For a compressed input that is not followed, the
  /// hash covers the whole file.
  var input: Extent
  /// The time of a followed input's last change, in nanoseconds since 1970, and its size.
  var inputChanged: Int
  var inputSize: Int
  /// The path of a followed input.
  var inputPath: String
  /// A table's first line.
  var header: [UInt8]
  /// The number of inputs before that one, and a hash of all of them.
  var inputsDone: Int
  var inputsDoneHash: UInt64
  /// The number of lines in them.
  var linesBefore: Int
  var output: Extent
  /// For messages.
  var outputPath: String
  var deadLetterLength: Int
  var deadLetterHash: UInt64
  var mappingLength: Int
  var mappingHash: UInt64
  var counters: FilterCounters

  var text: String {
    var numbers: [(String, UInt64)] = [("settings", settings), ("model", model)]
    for (name, extent) in [("input", input), ("output", output)] {
      numbers += [
        ("\(name)_device", extent.identity.device), ("\(name)_file", extent.identity.file),
        ("\(name)_born", extent.identity.born),
        ("\(name)_length", UInt64(extent.length)), ("\(name)_hash", extent.hash),
      ]
    }
    numbers += [
      ("input_changed", UInt64(bitPattern: Int64(inputChanged))), ("input_size", UInt64(inputSize)),
      ("inputs_done", UInt64(inputsDone)), ("inputs_done_hash", inputsDoneHash),
      ("lines_before", UInt64(linesBefore)),
    ]
    numbers += [("dead_letter_length", UInt64(deadLetterLength)), ("dead_letter_hash", deadLetterHash)]
    numbers += [("mapping_length", UInt64(mappingLength)), ("mapping_hash", mappingHash)]
    numbers += counters.entries.map { ($0.name, UInt64($0.value)) }
    var text = "\(Self.heading)\(Self.version)\n"
    text += "path \(PlainText.of(outputPath))\ninput_path \(PlainText.of(inputPath))\n"
    text += "header \(HexDigits.of(header))\n"
    for (name, number) in numbers { text += "\(name) \(number)\n" }
    return text + "end \(Self.checksum(text))\n"
  }
}

extension FilterCheckpoint {
  /// Parses the contents of a checkpoint file. Throws unless all of them are a checkpoint of this version.
  init(text bytes: [UInt8], shown: String) throws(ToolError) {
    guard let text = Self.checked(bytes), text.starts(with: Self.heading) else { throw Self.invalid(shown) }
    let lines = text.split(separator: "\n")
    let version = lines[0].dropFirst(Self.heading.count)
    guard version == Self.version else {
      throw ToolError(
        .input,
        "\(shown) is a checkpoint of version \(PlainText.of(String(version))); this bertqa reads version "
          + "\(Self.version): resume with the bertqa that wrote it, or remove both it and the output")
    }
    var values: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
    }
    guard let checkpoint = Self(values) else { throw Self.invalid(shown) }
    self = checkpoint
  }

  private init?(_ values: [String: String]) {
    let numbers = values.compactMapValues { UInt64($0) }
    let lengths = numbers.compactMapValues { Int(exactly: $0) }
    func extent(_ name: String) -> Extent? {
      guard let device = numbers["\(name)_device"], let file = numbers["\(name)_file"],
        let born = numbers["\(name)_born"], let length = lengths["\(name)_length"],
        let hash = numbers["\(name)_hash"]
      else { return nil }
      return Extent(
        identity: FileIdentity(device: device, file: file, born: born), length: length, hash: hash)
    }
    guard let settings = numbers["settings"], let model = numbers["model"], let input = extent("input"),
      let inputChanged = numbers["input_changed"], let inputSize = lengths["input_size"],
      let inputPath = values["input_path"], let header = values["header"].flatMap({ HexDigits.bytes($0) }),
      let inputsDone = lengths["inputs_done"], let inputsDoneHash = numbers["inputs_done_hash"],
      let linesBefore = lengths["lines_before"], let output = extent("output"),
      let outputPath = values["path"], let deadLetterLength = lengths["dead_letter_length"],
      let deadLetterHash = numbers["dead_letter_hash"], let mappingLength = lengths["mapping_length"],
      let mappingHash = numbers["mapping_hash"], let counters = FilterCounters(lengths)
    else { return nil }
    self.init(
      settings: settings, model: model, input: input, inputChanged: Int(Int64(bitPattern: inputChanged)),
      inputSize: inputSize, inputPath: inputPath, header: header, inputsDone: inputsDone,
      inputsDoneHash: inputsDoneHash, linesBefore: linesBefore, output: output, outputPath: outputPath,
      deadLetterLength: deadLetterLength, deadLetterHash: deadLetterHash, mappingLength: mappingLength,
      mappingHash: mappingHash, counters: counters)
  }

  static func invalid(_ shown: String) -> ToolError {
    ToolError(
      .input,
      "\(shown) is not a checkpoint of bertqa filter, or it is damaged: name a new file, and remove the output "
        + "to begin afresh")
  }

  /// The error for a file that does not have what the checkpoint says that the run wrote.
  static func changed(_ shown: String) -> ToolError {
    ToolError(
      .input,
      "\(shown) was changed since the checkpoint: restore it, or remove the checkpoint and the output to begin again"
    )
  }

  /// Returns the text in front of the last line if that line has its checksum.
  private static func checked(_ bytes: [UInt8]) -> String? {
    guard bytes.last == UInt8(ascii: "\n"), let end = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n"))
    else { return nil }
    let text = String(decoding: bytes[...end], as: UTF8.self)
    return bytes[(end + 1)...].elementsEqual("end \(checksum(text))\n".utf8) ? text : nil
  }

  private static func checksum(_ text: String) -> UInt64 {
    var hash = ContentHash()
    hash.update(text)
    return hash.value
  }
}

/// The checkpoint file of a run. It is locked as long as the run lasts.
final class CheckpointFile {
  let path: String
  /// The descriptor of the current file. Closing it releases the lock.
  private var descriptor: Int32
  private var size: Int

  /// True if the file has no checkpoint yet.
  var isEmpty: Bool { size == 0 }

  /// Opens or creates the file and locks it.
  init(_ name: ArgumentText) throws(ToolError) {
    path = name.string
    var status = stat()
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      guard opened >= 0 else { throw FileWriting.failed(path, errno) }
      guard fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        close(opened)
        throw ToolError(.input, "\(path) is not a regular file, which \(Option.resume.spelling) needs")
      }
      switch FileLock.take(.whole, of: opened) {
      case .taken: break
      case .heldBy(let process):
        close(opened)
        throw ToolError(.input, "\(path) is in use: process \(process) is running with it")
      case .failed(let number):
        close(opened)
        throw FileWriting.failed(path, number)
      }
      // Another run may have replaced the file between opening and locking.
      if FileIdentity(descriptor: opened) == FileIdentity(path: path) {
        descriptor = opened
        size = Int(status.st_size)
        break
      }
      close(opened)
    }
    FileWriting.removeLeftovers(of: path)
  }

  deinit { close(descriptor) }

  /// Returns nil if there is no checkpoint yet.
  func read() throws(ToolError) -> FilterCheckpoint? {
    if isEmpty { return nil }
    guard size <= 1 << 28 else { throw FilterCheckpoint.invalid(path) }
    var bytes = [UInt8](repeating: 0, count: size)
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw FilterCheckpoint.invalid(path)
    }
    return try FilterCheckpoint(text: bytes, shown: path)
  }

  /// Replaces the checkpoint atomically and durably. The new file is already locked when others can open it.
  func save(_ checkpoint: FilterCheckpoint) throws(ToolError) {
    let text = checkpoint.text
    let new = try FileWriting.replaceFile(path, with: text, isDurable: true) { descriptor in
      if case .failed(let number) = FileLock.take(.whole, of: descriptor) { return number }
      return 0
    }
    close(descriptor)
    descriptor = new
    size = text.utf8.count
  }

  /// Cleans up after a failed run: removes a file without a checkpoint or with one of an unused run.
  func abandon(isUnused: Bool) {
    if isEmpty || isUnused { FileWriting.remove(path) }
  }
}
