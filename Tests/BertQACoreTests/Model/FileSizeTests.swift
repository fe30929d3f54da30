import Foundation
import Testing

@testable import BertQACore

/// Files that are larger than any real one are refused by their size, before a byte of them is read.
@Suite struct FileSizeTests {
  private static func makeSparse(_ path: String, size: off_t) throws {
    if !FileManager.default.fileExists(atPath: path) {
      try #require(FileManager.default.createFile(atPath: path, contents: nil))
    }
    try #require(truncate(path, size) == 0)
  }

  @Test(arguments: [
    ("tiny-bert", "config.json", off_t(16) << 20), ("tiny-bert", "vocab.txt", off_t(1) << 28),
    ("tiny-bert", "tokenizer_config.json", 16 << 20), ("tiny-bert-embedder", "modules.json", 16 << 20),
    ("tiny-lstm", "config.json", 16 << 20), ("tiny-lstm", "vocab.txt", 1 << 28),
  ])
  func tooLargeFilesAreRefused(_ model: String, _ file: String, _ limit: off_t) throws {
    let directory = try TemporaryDirectory()
    try directory.copyFiles(ofTiny: model)
    try Self.makeSparse(directory.file(file), size: 6 << 30)
    let error = failure { _ = try Context(modelDirectory: directory.path) }
    #expect(error?.status == .tooLarge)
    #expect(error?.message.contains("has \(6 << 30) bytes, expected at most \(limit)") == true)
  }

  @Test func vocabularyOfEmptyLinesIsRefused() throws {
    let lines = [UInt8](repeating: 0x0A, count: 100_000_000)
    let error = failure { try lines.withUnsafeBufferPointer { _ = try Vocabulary(vocabularyFile: $0) } }
    #expect(error?.status == .tooLarge)
  }

  /// Links `count` shards to the first one and lists them in an index. Returns the error of opening the checkpoint.
  private func refusal(
    ofLinks count: Int, in directory: TemporaryDirectory, index: String
  ) throws -> BertQAError? {
    for shard in 1..<count {
      try FileManager.default.createSymbolicLink(
        atPath: directory.file("shard-\(shard)"), withDestinationPath: directory.file("shard-0"))
    }
    let map = (0..<count).map { "\"t\($0)\":\"shard-\($0)\"" }.joined(separator: ",")
    try directory.write("{\"weight_map\":{\(map)}}", to: index)
    return failure { _ = try Checkpoint(directory: directory.path) }
  }

  /// Links make one header that of many shards: they share one limit.
  @Test func headersOfShardsHaveOneLimit() throws {
    let directory = try TemporaryDirectory()
    let header =
      Array("{\"__metadata__\":{\"a\":\"".utf8) + [UInt8](repeating: 0x61, count: 33 << 20)
      + Array("\"}}".utf8)
    try directory.write(
      withUnsafeBytes(of: UInt64(header.count).littleEndian, Array.init) + header, to: "shard-0")
    let error = try refusal(ofLinks: 8, in: directory, index: "model.safetensors.index.json")
    #expect(error?.status == .invalidModel)
    #expect(error?.message.contains("shard-2: header of") == true)
  }

  /// The same for PyTorch's files, whose pickles are smaller.
  @Test func picklesOfShardsHaveOneLimit() throws {
    let directory = try TemporaryDirectory()
    let count = 2_000_000
    let string = Array("X".utf8) + withUnsafeBytes(of: UInt32(count).littleEndian, Array.init)
    let parts: [[UInt8]] = [
      [0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19], [UInt8(ascii: "M"), 0xE9, 3],
      Array("}".utf8), Array("}".utf8) + string + [UInt8](repeating: 0x61, count: count) + Array("Ns".utf8),
      Array("]".utf8),
    ]
    try directory.write(parts.flatMap { [0x80, 2] + $0 + Array(".".utf8) }, to: "shard-0")
    #expect(try Safetensors(torch: ModelFile(path: directory.file("shard-0"))).entries.isEmpty)
    let error = try refusal(ofLinks: 60, in: directory, index: "pytorch_model.bin.index.json")
    #expect(error?.status == .invalidModel)
    #expect(error?.message.contains("shard-49: pickles of") == true)
  }
}
