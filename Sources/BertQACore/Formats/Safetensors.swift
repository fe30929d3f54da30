/// The positions of the tensors in one safetensors file.
///
/// Rejects what the reference implementation rejects. `init` documents the layout.
struct Safetensors: Sendable {
  struct Entry: Sendable {
    let type: SafetensorsType
    let shape: [Int]
    /// In bytes of the file.
    let range: Range<Int>
  }

  /// The reference implementation's limit on the header, in bytes.
  static let headerLimit = 100_000_000

  let file: ModelFile
  let entries: [String: Entry]
  /// The number of bytes of the header's JSON, or of the pickles.
  let headerCount: Int

  /// The number of tensors between two polls of the monitor.
  private static let checkInterval = 1024

  /// A file consists of the header's length N (8 bytes, little-endian), N bytes of JSON, and the data. The
  /// header maps names to {dtype, shape, data_offsets: [begin, end)} in bytes from the start of the data. The
  /// tensors cover the data without gap or overlap.
  /// - Parameter headerLimit: the maximum size of the header in bytes.
  init(
    _ file: ModelFile, headerLimit: Int = Safetensors.headerLimit, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    let headerCount = try Self.headerCount(of: file, headerLimit)
    self.headerCount = headerCount
    let json = try file.withBytes { bytes throws(BertQAError) in
      try JSONParser.parse(
        UnsafeBufferPointer(rebasing: bytes[8..<8 + headerCount]), file: file.path, monitor)
    }
    guard case .object(let object) = json else {
      throw BertQAError(.invalidModel, "\(file.path): the header is \(json.summary), not an object")
    }
    let dataStart = 8 + headerCount
    var entries: [String: Entry] = [:]
    entries.reserveCapacity(object.members.count)
    for (index, member) in object.members.enumerated() {
      if index % Self.checkInterval == 0 { try monitor?.check() }
      if member.key == "__metadata__" {
        try Self.checkMetadata(member.value, file.path)
        continue
      }
      let entry = try Self.entry(member, dataStart: dataStart, size: file.bytes.count, file.path)
      guard entries.updateValue(entry, forKey: member.key) == nil else {
        throw Self.error(file.path, member.key, "occurs twice in the header")
      }
    }
    try Self.checkCoverage(entries, dataStart..<file.bytes.count, file.path, monitor)
    self.file = file
    self.entries = entries
  }

  /// Tensors of a file in another format.
  init(_ file: ModelFile, entries: [String: Entry], headerCount: Int) {
    self.file = file
    self.entries = entries
    self.headerCount = headerCount
  }

  private static func error(_ file: String, _ tensor: String, _ what: String) -> BertQAError {
    BertQAError(.invalidModel, "\(file): tensor \(quoted(tensor)): \(what)")
  }

  /// Reads and checks the length of the header.
  private static func headerCount(of file: ModelFile, _ headerLimit: Int) throws(BertQAError) -> Int {
    let bytes = file.bytes
    guard bytes.count >= 8 else {
      throw BertQAError(
        .invalidModel,
        "\(file.path): \(bytes.count) bytes long, expected at least 8: not a safetensors file")
    }
    let length = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    guard length <= headerLimit else {
      throw BertQAError(
        .invalidModel,
        "\(file.path): header of \(length) bytes, expected at most \(headerLimit): "
          + "not a safetensors file")
    }
    guard length <= bytes.count - 8 else {
      throw BertQAError(
        .invalidModel,
        "\(file.path): header of \(length) bytes, but only \(bytes.count - 8) follow: "
          + "the file is truncated")
    }
    guard length > 0, bytes[8] == UInt8(ascii: "{") else {
      throw BertQAError(.invalidModel, "\(file.path): the header does not start with '{'")
    }
    return Int(length)
  }

  private static func checkMetadata(_ value: JSON, _ file: String) throws(BertQAError) {
    guard case .object(let object) = value,
      object.members.allSatisfy({ if case .string = $0.value { true } else { false } })
    else {
      throw BertQAError(.invalidModel, "\(file): \"__metadata__\" is not an object of strings")
    }
  }

  private static func entry(
    _ member: JSON.Object.Member, dataStart: Int, size: Int, _ file: String
  ) throws(BertQAError) -> Entry {
    let name = member.key
    guard case .object(let object) = member.value else {
      throw error(file, name, "is \(member.value.summary), expected an object")
    }
    for key in ["dtype", "shape", "data_offsets"] {
      let count = object.members.count { $0.key == key }
      guard count == 1 else { throw error(file, name, "\"\(key)\" occurs \(count) times, expected 1") }
    }
    guard case .string(let typeName)? = object["dtype"], let type = SafetensorsType(typeName) else {
      throw error(file, name, "unknown dtype \(object["dtype"]?.summary ?? "")")
    }
    let shape = try integers(object["shape"], key: "shape", name, file)
    let offsets = try integers(object["data_offsets"], key: "data_offsets", name, file)
    guard offsets.count == 2, offsets[0] <= offsets[1], offsets[1] <= size - dataStart else {
      throw error(
        file, name,
        "data_offsets \(described(shape: offsets)), expected [begin, end] within "
          + "0...\(size - dataStart), the bytes of data in the file")
    }
    guard let expected = type.byteCount(of: shape), expected == offsets[1] - offsets[0] else {
      throw error(
        file, name,
        "data_offsets span \(offsets[1] - offsets[0]) bytes, which is not the size of "
          + "\(typeName) \(described(shape: shape))")
    }
    return Entry(type: type, shape: shape, range: dataStart + offsets[0]..<dataStart + offsets[1])
  }

  /// Returns an array of integers in 0...Int.max.
  private static func integers(
    _ value: JSON?, key: String, _ name: String, _ file: String
  ) throws(BertQAError) -> [Int] {
    guard case .array(let elements)? = value else {
      throw error(file, name, "\"\(key)\" is \(value?.summary ?? "missing"), expected an array")
    }
    var result: [Int] = []
    for element in elements {
      guard case .number(let number) = element, let integer = number.integer, integer >= 0 else {
        throw error(
          file, name, "\"\(key)\" has \(element.summary), expected an integer in 0...\(Int.max)")
      }
      result.append(Int(integer))
    }
    return result
  }

  private static func checkCoverage(
    _ entries: [String: Entry], _ data: Range<Int>, _ file: String, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var covered = data.lowerBound
    let sorted = try entries.checkedSorted(monitor.map { CallPoll($0) }) {
      ($0.value.range.lowerBound, $0.value.range.upperBound)
        < ($1.value.range.lowerBound, $1.value.range.upperBound)
    }
    for (name, entry) in sorted {
      guard entry.range.lowerBound == covered else {
        let what = entry.range.lowerBound < covered ? "overlaps another" : "leaves a gap before it"
        throw error(
          file, name,
          "starts at byte \(entry.range.lowerBound - data.lowerBound) of the data and \(what), "
            + "expected \(covered - data.lowerBound)")
      }
      covered = entry.range.upperBound
    }
    guard covered == data.upperBound else {
      throw BertQAError(
        .invalidModel,
        "\(file): \(data.upperBound - covered) bytes after the last tensor belong to none")
    }
  }
}
