import Testing

@testable import BertQACore

struct SafetensorsTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open(_ bytes: [UInt8]) throws -> Safetensors {
    try Safetensors(ModelFile(path: directory.write(bytes, to: "m.safetensors")))
  }

  private func open(header: String, dataCount: Int = 0) throws -> Safetensors {
    try open(
      TinyCheckpoint.safetensors(header: header, data: Array(repeating: 0, count: dataCount)))
  }

  @Test func findsTensors() throws {
    let header = """
      {"__metadata__": {"format": "pt"},
       "b": {"data_offsets": [0, 24], "shape": [2, 3], "dtype": "F32", "other": 1},
       "a": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]},
       "empty": {"dtype": "BF16", "shape": [0, 7], "data_offsets": [24, 24]},
       "scalar": {"dtype": "U8", "shape": [], "data_offsets": [32, 33]},
       "small": {"dtype": "F4", "shape": [2], "data_offsets": [33, 34]}}
      """
    let file = try open(header: header + "   ", dataCount: 34)
    let start = 8 + header.utf8.count + 3
    #expect(file.entries.count == 5)
    #expect(file.entries["b"]?.shape == [2, 3])
    #expect(file.entries["b"]?.range == start..<start + 24)
    #expect(file.entries["a"]?.type.name == "I64")
    #expect(file.entries["scalar"]?.range == start + 32..<start + 33)
  }

  @Test(arguments: [
    ([], "0 bytes long, expected at least 8"),
    ([1, 2, 3, 4, 5, 6, 7], "7 bytes long"),
    ([0, 0, 0, 0, 0, 0, 0, 0], "does not start with '{'"),
    ([3, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0x7D], "header of 3 bytes, but only 2 follow"),
    ([1, 0xE1, 0xF5, 5, 0, 0, 0, 0, 0x7B, 0x7D], "header of 100000001 bytes, expected at most"),
    (
      [UInt8](repeating: 0xFF, count: 16),
      "header of 18446744073709551615 bytes, expected at most 100000000"
    ),
    ([3, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x7B, 0x7D], "does not start with '{'"),
    ([2, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0xFF], "not valid JSON at byte 1"),
    ([2, 0, 0, 0, 0, 0, 0, 0, 0x7B, 0x7D, 0], "1 bytes after the last tensor"),
  ])
  func refusesFile(bytes: [UInt8], message: String) throws {
    let error = try #require(failure { _ = try open(bytes) })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix(directory.file("m.safetensors")))
    #expect(error.message.contains(message), "\(error)")
  }

  /// One tensor "t" of a file with 16 bytes of data.
  @Test(arguments: [
    ("3", "is 3, expected an object"),
    ("{}", "\"dtype\" occurs 0 times"),
    (#"{"dtype":"F32","dtype":"F32","shape":[4],"data_offsets":[0,16]}"#, "\"dtype\" occurs 2 times"),
    (#"{"dtype":"F33","shape":[4],"data_offsets":[0,16]}"#, "unknown dtype \"F33\""),
    (#"{"dtype":32,"shape":[4],"data_offsets":[0,16]}"#, "unknown dtype 32"),
    (#"{"dtype":"F32","shape":4,"data_offsets":[0,16]}"#, "\"shape\" is 4, expected an array"),
    (#"{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}"#, "\"shape\" has -4, expected an integer"),
    (#"{"dtype":"F32","shape":[4.0],"data_offsets":[0,16]}"#, "\"shape\" has 4.0"),
    (#"{"dtype":"F32","shape":["4"],"data_offsets":[0,16]}"#, "\"shape\" has \"4\""),
    (#"{"dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,16]}"#, "\"shape\" has 1.8"),
    (
      #"{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}"#,
      "span 0 bytes, which is not the size of F32 [4294967296, 4294967296]"
    ),
    (#"{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}"#, "span 0 bytes"),
    (#"{"dtype":"F32","shape":[3],"data_offsets":[0,16]}"#, "span 16 bytes, which is not the size"),
    (#"{"dtype":"F16","shape":[4],"data_offsets":[0,16]}"#, "not the size of F16 [4]"),
    (#"{"dtype":"F4","shape":[31],"data_offsets":[0,16]}"#, "not the size of F4 [31]"),
    (#"{"dtype":"F32","shape":[4],"data_offsets":[16,0]}"#, "within 0...16"),
    (#"{"dtype":"F32","shape":[4],"data_offsets":[4,20]}"#, "data_offsets [4, 20]"),
    (#"{"dtype":"F32","shape":[4],"data_offsets":[0]}"#, "data_offsets [0]"),
    (#"{"dtype":"F32","shape":[4],"data_offsets":[0,16,16]}"#, "data_offsets [0, 16, 16]"),
    (#"{"dtype":"F32","shape":[4],"data_offsets":[-16,0]}"#, "\"data_offsets\" has -16"),
    (
      #"{"dtype":"F32","shape":[4],"data_offsets":[0,18446744073709551615]}"#,
      "\"data_offsets\" has 1.8"
    ),
    (#"{"dtype":"F32","shape":[3],"data_offsets":[4,16]}"#, "leaves a gap before it, expected 0"),
  ])
  func refusesTensor(entry: String, message: String) throws {
    let error = try #require(failure { _ = try open(header: "{\"t\":\(entry)}", dataCount: 16) })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("\(directory.file("m.safetensors")): tensor \"t\": "))
    #expect(error.message.contains(message), "\(error)")
  }

  @Test(arguments: [
    ("0,8", "4,12", "tensor \"b\": starts at byte 4 of the data and overlaps another, expected 8"),
    ("0,8", "0,8", "overlaps another"),
    ("0,8", "12,20", "tensor \"b\": starts at byte 12 of the data and leaves a gap"),
    ("0,8", "8,16", "4 bytes after the last tensor belong to none"),
  ])
  func refusesLayout(first: String, second: String, message: String) throws {
    let header = """
      {"a":{"dtype":"F32","shape":[2],"data_offsets":[\(first)]},
       "b":{"dtype":"F32","shape":[2],"data_offsets":[\(second)]}}
      """
    let error = try #require(failure { _ = try open(header: header, dataCount: 20) })
    #expect(error.message.contains(message), "\(error)")
  }

  @Test func refusesDuplicatesAndForeignMetadata() {
    let entry = #"{"dtype":"F32","shape":[0],"data_offsets":[0,0]}"#
    let twice = failure { _ = try open(header: "{\"a\":\(entry),\"a\":\(entry)}") }
    #expect(twice?.message.contains("tensor \"a\": occurs twice in the header") == true)
    for metadata in ["[]", "{\"a\": 1}"] {
      let error = failure { _ = try open(header: "{\"__metadata__\":\(metadata)}") }
      #expect(error?.message.contains("not an object of strings") == true)
    }
  }

  @Test func showsHostileNamesHarmlessly() {
    let name = "\\u001b[2J" + String(repeating: "x", count: 10_000)
    let error = failure { _ = try open(header: "{\"\(name)\": 1}") }
    #expect(error?.message.contains("tensor \"\\u{1B}[2Jxxx") == true)
    #expect((error?.message.utf8.count ?? .max) < 400)
  }
}
