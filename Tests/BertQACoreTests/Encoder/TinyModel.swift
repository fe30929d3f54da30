import Foundation

@testable import BertQACore

/// A checkpoint of Fixtures/ with what transformers computes from it (generate-tiny-models.py, generate-tiny-families.py).
struct TinyModel {
  static let names = [
    "tiny-bert", "tiny-bert-cased", "tiny-distilbert", "tiny-roberta", "tiny-electra", "tiny-albert",
    "tiny-mpnet", "tiny-deberta", "tiny-deberta-v1", "tiny-modernbert", "tiny-mobilebert", "tiny-longformer",
  ]

  /// One window and its logits.
  struct Expected: Decodable {
    var ids: [Int32]
    var second_segment: Int
    var start: [Float]
    var end: [Float]
  }

  private struct File: Decodable {
    struct Set: Decodable { var windows: [Expected] }
    var sets: [Set]
  }

  let model: LoadedModel
  /// Ragged sets of windows that belong in one batch.
  let sets: [[Expected]]

  static func path(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/\(name)").path
  }

  init(_ name: String) throws {
    model = try LoadedModel(ModelDirectory(path: Self.path(name)))
    let data = try Data(contentsOf: URL(fileURLWithPath: Self.path(name) + "/expected.json"))
    sets = try JSONDecoder().decode(File.self, from: data).sets.map(\.windows)
  }

  func encoder(
    threads: Int = 1, isa: Int32 = 0, precision: Precision = .f32
  ) throws -> Encoder? {
    guard let kernels = Kernels(isa: isa) else { return nil }
    return try Encoder(model: model, precision: precision, kernels: kernels, threadLimit: threads)
  }

  /// Windows of the given lengths, the same for the same arguments.
  func batch(lengths: [Int]) -> WindowBatch {
    var batch = WindowBatch()
    var state: UInt32 = 1
    for length in lengths {
      batch.windows.append(
        Window(firstToken: batch.ids.count, tokenCount: length, secondSegment: length / 3))
      for _ in 0..<length {
        state = state &* 1_664_525 &+ 1_013_904_223
        batch.ids.append(Int32(state >> 8) % Int32(model.configuration.vocabSize))
      }
      // A question of several blocks, in long windows.
      if length > 2, case .before(let separator) = model.configuration.local?.globalTokens {
        batch.ids[batch.ids.count - length + length / 3] = separator
      }
    }
    return batch
  }
}

extension Encoder {
  func logits(
    of batch: WindowBatch, cancellation: Cancellation? = nil
  ) throws(BertQAError) -> (start: [Float], end: [Float]) {
    var call = CallOptions()
    call.cancellation = cancellation
    let values = try outputs(of: batch, giving: nil, CallMonitor(call)).values
    return (Array(values[..<batch.ids.count]), Array(values[batch.ids.count...]))
  }

  func vectors(_ pooling: TokenPooling, of batch: WindowBatch) throws -> [Float] {
    try outputs(of: batch, giving: .window(pooling)).values
  }
}

extension WindowBatch {
  init(_ windows: [TinyModel.Expected]) {
    self.init()
    for window in windows {
      self.windows.append(
        Window(
          firstToken: ids.count, tokenCount: window.ids.count, secondSegment: window.second_segment))
      ids += window.ids
    }
  }
}
