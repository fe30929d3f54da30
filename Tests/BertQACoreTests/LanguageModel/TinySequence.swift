import Foundation
import Testing

@testable import BertQACore

/// A recurrent model of Fixtures/ with what PyTorch computes from it (generate-sequence-models.py).
struct TinySequence {
  static let names = ["tiny-lstm", "tiny-gru", "tiny-lstm-no-bias", "tiny-lstm-characters"]

  struct Expected: Decodable {
    var ids: [Int32]
    /// After each word; [vocabulary].
    var logits: [[Float]]
    /// After the last word.
    var state: [Float]
  }

  private struct File: Decodable {
    var sequences: [Expected]
  }

  let sequences: [Expected]
  let directory: String

  init(_ name: String) throws {
    directory = TinyModel.path(name)
    let data = try Data(contentsOf: URL(fileURLWithPath: directory + "/expected.json"))
    sequences = try JSONDecoder().decode(File.self, from: data).sequences
  }

  func context(isa: Int32 = 0, threads: Int = 1) throws -> Context {
    var options = ContextOptions()
    options.instructionSet = InstructionSet(rawValue: isa) ?? .auto
    options.threads = threads
    return try Context(modelDirectory: directory, options: options)
  }

  static func context(_ name: String, isa: Int32 = 0, threads: Int = 1) throws -> Context {
    try TinySequence(name).context(isa: isa, threads: threads)
  }

  /// The shipped model, from this checkout.
  static func shakespeare(isa: Int32 = 0, threads: Int = 1) throws -> Context {
    var options = ContextOptions()
    options.instructionSet = InstructionSet(rawValue: isa) ?? .auto
    options.threads = threads
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../models/shakespeare-lstm").standardized
    return try Context(modelDirectory: root.path, options: options)
  }
}

extension Context {
  /// One step of many sequences, with the logits of each.
  func stepWithLogits(
    _ ids: [Int32], _ states: [SequenceState?]
  ) throws -> (states: [SequenceState], logits: [[Float]]) {
    let size = info.vocabularySize
    var logits = [Float](repeating: .nan, count: ids.count * size)
    let next = try ids.withUnsafeBufferPointer { ids in
      try logits.withUnsafeMutableBufferPointer {
        try step(ids: ids, states: states, logits: $0.baseAddress)
      }
    }
    return (next, ids.indices.map { Array(logits[$0 * size..<($0 + 1) * size]) })
  }

  /// The state after some words, by id.
  func state(after ids: [Int32]) throws -> SequenceState? {
    var state: SequenceState?
    for id in ids { state = try stepWithLogits([id], [state]).states[0] }
    return state
  }

  func word(_ id: Int32) -> String {
    vocabularyPiece(id: id).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

/// The status that `body` throws; nil where it throws none.
func status(of body: () throws -> Void) -> Status? { failure(body)?.status }
