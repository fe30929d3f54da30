import Testing

@testable import BertQACore

/// Tokens that no token attends to, and lanes without a token.
@Suite struct PaddingTests {
  static let paths =
    PrecisionTests.paths + instructionSets.map { PrecisionTests.Path(precision: .f32, isa: $0) }

  private func encoder(_ model: LoadedModel, _ path: PrecisionTests.Path, threads: Int = 1) throws -> Encoder
  {
    try Encoder(
      model: model, precision: path.precision, kernels: try #require(Kernels(isa: path.isa)),
      threadLimit: threads)
  }

  private func model(_ checkpoint: TinyCheckpoint) throws -> LoadedModel {
    let directory = try TemporaryDirectory()
    try checkpoint.write(to: directory)
    return try directory.loadedModel()
  }

  /// In a local layer, the last tokens of a padded query reach no token to attend to: they get what values of 0 give.
  @Test(arguments: paths)
  func tokensBeyondTheReachOfAllOthersAttendToNothing(path: PrecisionTests.Path) throws {
    var checkpoint = TinyCheckpoint(.modernBert, task: .embed, hidden: 32, layers: 3, positions: 100)
    checkpoint.config["local_attention"] = .number(16)
    checkpoint.config["layer_types"] = .array(.init(repeating: .string("sliding_attention"), count: 3))
    let own = try model(checkpoint)
    for (name, tensor) in checkpoint.tensors where name.hasSuffix("attn.Wqkv.weight") {
      let rest = tensor.bytes.count / 3
      checkpoint.tensors[name]?.bytes.replaceSubrange(
        2 * rest..<3 * rest, with: [UInt8](repeating: 0, count: rest))
    }
    let without = try model(checkpoint)
    for (tokens, attended) in [(90, 10), (60, 1), (41, 33), (100, 24)] {
      let ids = (0..<tokens).map { Int32(4 + $0 % 8) }
      func vectors(_ model: LoadedModel, threads: Int = 1) throws -> [[Float]] {
        let window = Window(
          firstToken: 0, tokenCount: tokens, secondSegment: tokens, unattendedCount: tokens - attended)
        let outputs = try encoder(model, path, threads: threads).outputs(
          of: WindowBatch(ids: ids, windows: [window]), giving: .tokens)
        return (0..<tokens).map { token in (0..<outputs.columns).map { outputs.values[$0 * tokens + token] } }
      }
      let found = try vectors(own)
      let nothing = try vectors(without)
      #expect(found.allSatisfy { $0.allSatisfy { $0.isFinite } })
      let shared = try vectors(own, threads: 3)
      #expect(shared == found)
      for token in 0..<tokens {
        #expect(
          (found[token] == nothing[token]) == (token >= attended + 8), "\(tokens), \(attended): \(token)")
      }
    }
  }

  /// A word whose vector overflows makes its own window NaN, and changes no bit of others, which may take the lanes
  /// beside it or later those where it was.
  @Test(arguments: [EncoderFamily.bert, .debertaV2, .modernBert].indices, paths)
  func windowsThatOverflowChangeNoOthers(index: Int, path: PrecisionTests.Path) throws {
    let family = [EncoderFamily.bert, .debertaV2, .modernBert][index]
    var checkpoint = TinyCheckpoint(family, hidden: 64, positions: 100)
    let name = "\(family.tensors.wordEmbeddings).weight"
    let large = withUnsafeBytes(of: Float.greatestFiniteMagnitude, Array.init)
    for feature in 0..<64 {
      checkpoint.tensors[name]?.bytes.replaceSubrange(
        (5 * 64 + feature) * 4..<(5 * 64 + feature + 1) * 4, with: large)
    }
    let model = try model(checkpoint)
    func batch(_ lengths: [Int], bad: Set<Int>) -> WindowBatch {
      var batch = WindowBatch()
      for (index, length) in lengths.enumerated() {
        batch.windows.append(Window(firstToken: batch.ids.count, tokenCount: length, secondSegment: length))
        batch.ids += (0..<length).map { bad.contains(index) ? 5 : Int32(6 + $0 % 6) }
      }
      return batch
    }
    for threads in [1, 3] {
      let fresh = try encoder(model, path, threads: threads)
      let used = try encoder(model, path, threads: threads)
      let lengths = [21, 4, 7, 33, 9]
      let expected = try fresh.logits(of: batch(lengths, bad: []))
      #expect(expected.start.allSatisfy { $0.isFinite })
      let found = try used.logits(of: batch(lengths, bad: [1, 3]))
      var first = 0
      for (index, length) in lengths.enumerated() {
        let tokens = first..<first + length
        if [1, 3].contains(index) {
          #expect(found.start[tokens].allSatisfy { $0.isNaN })
        } else {
          #expect(found.start[tokens] == expected.start[tokens], "\(path), beside, \(length) tokens")
        }
        first = tokens.upperBound
      }
      // In the lanes of tokens that were NaN.
      _ = try used.logits(of: batch([100, 100, 100, 100], bad: [0, 1, 2, 3]))
      let again = try used.logits(of: batch(lengths, bad: []))
      #expect(again.start == expected.start && again.end == expected.end, "\(path), afterwards")
    }
  }
}
