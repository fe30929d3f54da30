import Testing

@testable import BertQACore

/// Heads as large as those of real models. Instruction sets have their own paths for multiples of 16 and 32 features,
/// which the heads of the checkpoints in Fixtures/ are too small for.
@Suite struct HeadSizeTests {
  static let families: [(name: String, family: EncoderFamily)] = [
    ("BERT", .bert), ("MPNet", .mpnet), ("DeBERTa", .deberta), ("DeBERTa v2", .debertaV2),
    ("ModernBERT", .modernBert), ("JinaBERT", .jinaBert), ("Longformer", .longformer),
  ]
  static let names = families.map(\.name)
  static let sizes = [(1, 16), (3, 24), (2, 32), (1, 48), (2, 64), (1, 80), (1, 96), (1, 128)]

  private static let lengths = [40, 7, 1, 90, 33, 16, 17, 64, 3, 15]

  /// A checkpoint with moderate weights.
  private func model(_ name: String, heads: Int, headSize: Int) throws -> LoadedModel {
    let family = try #require(Self.families.first { $0.name == name }).family
    var checkpoint = TinyCheckpoint(
      family, hidden: heads * headSize, heads: heads, inner: 72, positions: 100)
    for (key, value) in [("local_attention", 16), ("attention_window", 16), ("sep_token_id", 3)] {
      checkpoint.config[key] = .number(value)
    }
    for (name, tensor) in checkpoint.tensors where tensor.shape.count == 2 {
      let scale = 1.5 / Float(tensor.shape[1]).squareRoot()
      checkpoint.tensors[name]?.bytes = stride(from: 0, to: tensor.bytes.count, by: 4).flatMap { place in
        let value = tensor.bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Float.self) }
        return withUnsafeBytes(of: value * scale, Array.init)
      }
    }
    let directory = try TemporaryDirectory()
    try checkpoint.write(to: directory)
    return try directory.loadedModel()
  }

  private func batch(_ lengths: [Int]) -> WindowBatch {
    var random = TestRandom(60)
    var batch = WindowBatch()
    for length in lengths {
      batch.windows.append(
        Window(firstToken: batch.ids.count, tokenCount: length, secondSegment: length / 3))
      batch.ids += (0..<length).map { _ in Int32.random(in: 4..<12, using: &random) }
      if length > 2 { batch.ids[batch.ids.count - length + length / 3] = 3 }
    }
    return batch
  }

  private func alone(_ window: Window, of batch: WindowBatch) -> WindowBatch {
    let tokens = window.firstToken..<window.firstToken + window.tokenCount
    return WindowBatch(
      ids: Array(batch.ids[tokens]),
      windows: [Window(firstToken: 0, tokenCount: tokens.count, secondSegment: window.secondSegment)])
  }

  @Test(arguments: names, sizes)
  func logitsAreTheSameAnywhereAndNearThoseOfPortableFloats(name: String, size: (Int, Int)) throws {
    let model = try model(name, heads: size.0, headSize: size.1)
    let batch = batch(Self.lengths)
    func encoder(_ path: PrecisionTests.Path, threads: Int) throws -> Encoder {
      try Encoder(
        model: model, precision: path.precision, kernels: try #require(Kernels(isa: path.isa)),
        threadLimit: threads)
    }
    let exact = try encoder(.init(precision: .f32, isa: 1), threads: 1).logits(of: batch)
    for path in PrecisionTests.paths + instructionSets.map({ .init(precision: .f32, isa: $0) }) {
      let one = try encoder(path, threads: 1)
      let expected = try one.logits(of: batch)
      let error = PrecisionTests.relativeError(expected.start + expected.end, exact.start + exact.end)
      let bound: Float = path.precision == .f32 ? 1e-4 : path.precision == .bf16 ? 0.06 : 0.2
      #expect(error < bound, "\(path)")
      let many = try encoder(path, threads: 3).logits(of: batch)
      #expect(many.start == expected.start && many.end == expected.end, "\(path), 3 threads")
      for window in batch.windows {
        let tokens = window.firstToken..<window.firstToken + window.tokenCount
        let found = try one.logits(of: alone(window, of: batch))
        #expect(
          found.start == Array(expected.start[tokens]) && found.end == Array(expected.end[tokens]),
          "\(path), \(tokens.count) tokens alone")
      }
    }
  }
}
