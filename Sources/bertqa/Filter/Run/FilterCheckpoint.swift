import Glibc

/// The state of a run on disk, from which a rerun can resume.
struct FilterCheckpoint {
  private static let heading = "bertqa filter checkpoint 3"

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
  var counters: FilterCounters

  var text: String {
    var numbers: [(String, UInt64)] = [("settings", settings), ("model", model)]
    for (name, extent) in [("input", input), ("output", output)] {
      numbers += [
        ("\(name)_device", extent.identity.device), ("\(name)_file", extent.identity.file),
        ("\(name)_length", UInt64(extent.length)), ("\(name)_hash", extent.hash),
      ]
    }
    numbers += [
      ("input_changed", UInt64(bitPattern: Int64(inputChanged))), ("input_size", UInt64(inputSize)),
      ("inputs_done", UInt64(inputsDone)), ("inputs_done_hash", inputsDoneHash),
      ("lines_before", UInt64(linesBefore)),
    ]
    numbers += [("dead_letter_length", UInt64(deadLetterLength)), ("dead_letter_hash", deadLetterHash)]
    numbers += counters.entries.map { ($0.name, UInt64($0.value)) }
    var text = "\(Self.heading)\npath \(PlainText.of(outputPath))\ninput_path \(PlainText.of(inputPath))\n"
    text += "header \(header.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined())\n"
    for (name, number) in numbers { text += "\(name) \(number)\n" }
    return text + "end \(Self.checksum(text))\n"
  }

  /// Parses a checkpoint; nil unless all of the text is a checkpoint of this version.
  init?(text bytes: [UInt8]) {
    guard let end = bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")), bytes.last == UInt8(ascii: "\n")
    else { return nil }
    let text = String(decoding: bytes[...end], as: UTF8.self)
    guard bytes[(end + 1)...].elementsEqual("end \(Self.checksum(text))\n".utf8) else { return nil }
    var values: [String: String] = [:]
    let lines = text.split(separator: "\n")
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
    }
    let numbers = values.compactMapValues { UInt64($0) }
    func extent(_ name: String) -> Extent? {
      guard let device = numbers["\(name)_device"], let file = numbers["\(name)_file"],
        let length = numbers["\(name)_length"].flatMap(Int.init(exactly:)), let hash = numbers["\(name)_hash"]
      else { return nil }
      return Extent(identity: FileIdentity(device: device, file: file), length: length, hash: hash)
    }
    guard lines.first ?? "" == Self.heading, let settings = numbers["settings"], let model = numbers["model"],
      let input = extent("input"), let output = extent("output"), let path = values["path"],
      let length = numbers["dead_letter_length"].flatMap(Int.init(exactly:)),
      let hash = numbers["dead_letter_hash"], let inputsDoneHash = numbers["inputs_done_hash"],
      let inputsDone = numbers["inputs_done"].flatMap(Int.init(exactly:)),
      let linesBefore = numbers["lines_before"].flatMap(Int.init(exactly:)),
      let inputChanged = numbers["input_changed"], let inputPath = values["input_path"],
      let inputSize = numbers["input_size"].flatMap(Int.init(exactly:)),
      let header = values["header"].flatMap(Self.bytes),
      let counters = FilterCounters(numbers.compactMapValues { Int(exactly: $0) })
    else { return nil }
    (self.settings, self.model, self.input, self.output) = (settings, model, input, output)
    (outputPath, deadLetterLength, deadLetterHash) = (path, length, hash)
    (self.inputsDone, self.inputsDoneHash, self.linesBefore) = (inputsDone, inputsDoneHash, linesBefore)
    self.counters = counters
    (self.inputChanged, self.inputSize) = (Int(Int64(bitPattern: inputChanged)), inputSize)
    (self.inputPath, self.header) = (inputPath, header)
  }

  init(
    settings: UInt64, model: UInt64, input: Extent, inputChanged: Int, inputSize: Int, inputPath: String,
    header: [UInt8], inputsDone: Int, inputsDoneHash: UInt64, linesBefore: Int,
    output: Extent, outputPath: String, deadLetterLength: Int, deadLetterHash: UInt64,
    counters: FilterCounters
  ) {
    (self.settings, self.model, self.input, self.output) = (settings, model, input, output)
    (self.inputsDone, self.inputsDoneHash, self.linesBefore) = (inputsDone, inputsDoneHash, linesBefore)
    (self.outputPath, self.deadLetterLength) = (outputPath, deadLetterLength)
    self.deadLetterHash = deadLetterHash
    self.counters = counters
    (self.inputChanged, self.inputSize, self.inputPath) = (inputChanged, inputSize, inputPath)
    self.header = header
  }

  /// Decodes two hexadecimal digits for each byte; nil for other text.
  private static func bytes(_ hexadecimal: String) -> [UInt8]? {
    let digits = hexadecimal.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == hexadecimal.utf8.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func checksum(_ text: String) -> UInt64 {
    var hash = ContentHash()
    hash.update(text)
    return hash.value
  }
}

/// The checkpoint file of a run. It is locked as long as the run lasts.
final class CheckpointFile {
  let shown: String
  private let path: String
  /// The descriptor of the current file. Closing it releases the lock.
  private var descriptor: Int32
  /// True if the file has no checkpoint yet.
  private(set) var isEmpty = true

  /// Opens or creates the file and locks it.
  init(_ name: ArgumentText) throws(ToolError) {
    shown = name.string
    path = name.string
    descriptor = -1
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      guard opened >= 0 else { throw FileWriting.failed(shown, errno) }
      switch FileLock.take(.whole, of: opened) {
      case .taken: break
      case .heldBy(let process):
        close(opened)
        throw ToolError(.input, "\(shown) is in use: process \(process) is running with it")
      case .failed(let number):
        close(opened)
        throw FileWriting.failed(shown, number)
      }
      // Another run may have replaced the file between opening and locking.
      if FileIdentity(descriptor: opened) == FileIdentity(path: path) {
        descriptor = opened
        break
      }
      close(opened)
    }
    FileWriting.removeLeftovers(of: path)
  }

  deinit { close(descriptor) }

  /// Returns nil if there is no checkpoint yet.
  func read() throws(ToolError) -> FilterCheckpoint? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 28
    else {
      throw ToolError(.input, "\(shown) is not a checkpoint of bertqa filter")
    }
    if status.st_size == 0 { return nil }
    isEmpty = false
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count,
      let checkpoint = FilterCheckpoint(text: bytes)
    else {
      throw ToolError(
        .input, "\(shown) is not a checkpoint of this version of bertqa filter, or it is damaged")
    }
    return checkpoint
  }

  /// Replaces the checkpoint atomically and durably. The new file is already locked when others can open it.
  func save(_ checkpoint: FilterCheckpoint) throws(ToolError) {
    let new = try FileWriting.replaceFile(path, with: checkpoint.text, isDurable: true) { descriptor in
      if case .failed(let number) = FileLock.take(.whole, of: descriptor) { return number }
      return 0
    }
    close(descriptor)
    descriptor = new
    isEmpty = false
  }

  /// Cleans up after a failed run: removes a file without a checkpoint or with one of an unused run.
  func abandon(isUnused: Bool) {
    if isEmpty || isUnused { unlink(path) }
  }
}
