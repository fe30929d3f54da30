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
      #expect(try vectors(own, threads: 3) == found)
      for token in 0..<tokens {
        #expect(
          (found[token] == nothing[token]) == (token >= attended + 8), "\(tokens), \(attended): \(token)")
      }
    }
  }
}
