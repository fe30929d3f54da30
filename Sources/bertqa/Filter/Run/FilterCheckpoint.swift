import Glibc

/// What is on the disk of a run, so that a rerun can go on from there.
struct FilterCheckpoint {
  private static let heading = "bertqa filter checkpoint 1"

  /// Of everything that the output depends on besides the input: arguments and model.
  var run: UInt64
  /// Of the input: its first bytes, and those before the place where the rerun goes on.
  var input: UInt64
  var outputLength: Int
  var deadLetterLength: Int
  /// Where the input goes on is among them.
  var counters: FilterCounters

  func save(_ path: String) throws(ToolError) {
    var text = "\(Self.heading)\nrun \(run)\ninput \(input)\noutput \(outputLength)\n"
    text += "dead_letter_file \(deadLetterLength)\n"
    for (name, value) in counters.entries { text += "\(name) \(value)\n" }
    try FileWriting.replace(path, with: text + "end 1\n", isDurable: true)
  }

  /// nil if there is none.
  init?(contentsOf name: ArgumentText) throws(ToolError) {
    guard access(name.pointer, F_OK) == 0 else { return nil }
    let text = try InputText(name)
    let lines = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
    var hashes: [String: UInt64] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ")
      if parts.count == 2 { hashes[String(parts[0])] = UInt64(parts[1]) }
    }
    let numbers = hashes.compactMapValues { Int(exactly: $0) }
    guard lines.first ?? "" == Self.heading, let run = hashes["run"], let input = hashes["input"],
      let output = numbers["output"], let deadLetters = numbers["dead_letter_file"], numbers["end"] == 1,
      let counters = FilterCounters(numbers)
    else { throw ToolError(.input, "\(name.string) is not a checkpoint of bertqa filter") }
    (self.run, self.input, outputLength, deadLetterLength) = (run, input, output, deadLetters)
    self.counters = counters
  }

  init(run: UInt64, input: UInt64, outputLength: Int, deadLetterLength: Int, counters: FilterCounters) {
    (self.run, self.input) = (run, input)
    (self.outputLength, self.deadLetterLength) = (outputLength, deadLetterLength)
    self.counters = counters
  }

  /// FNV-1a: tells texts apart that differ by accident.
  static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
    var hash = start
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }

  /// The hash of the input up to `offset`, by 64 KiB at its beginning and as many before the offset.
  static func identity(of descriptor: Int32, upTo offset: Int) -> UInt64 {
    let size = 1 << 16
    var hash = Self.hash(repeatElement(0, count: 0))
    var buffer = Array(repeating: UInt8(0), count: size)
    for start in [0, max(0, offset - size)] {
      let count = pread(descriptor, &buffer, min(size, offset - start), off_t(start))
      hash = Self.hash(buffer.prefix(max(0, count)), from: hash)
    }
    return hash
  }
}
