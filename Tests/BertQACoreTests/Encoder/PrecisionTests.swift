import Testing

@testable import BertQACore

@Suite struct PrecisionTests {
  struct Path: Sendable, CustomTestStringConvertible {
    let precision: Precision
    let isa: Int32
    var testDescription: String { "\(precision), isa \(isa)" }
  }

  /// Every precision below f32 on every instruction set of this machine that offers it.
  static let int8Paths = instructionSets.map { Path(precision: .int8, isa: $0) }
  static let paths = int8Paths + bf16InstructionSets.map { Path(precision: .bf16, isa: $0) }

  /// Root mean square of the differences over the standard deviation of `expected`.
  static func relativeError(_ logits: [Float], _ expected: [Float]) -> Float {
    let count = Float(expected.count)
    let mean = expected.reduce(0, +) / count
    let variance = expected.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    let error = zip(logits, expected).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } / count
    return (error / variance).squareRoot()
  }

  @Test(arguments: TinyModel.names, paths)
  func logitsAreNearThoseOfTransformers(name: String, path: Path) throws {
    let tiny = try TinyModel(name)
    let encoder = try #require(try tiny.encoder(isa: path.isa, precision: path.precision))
    // Random weights of 32 features average errors out less than a trained model's hundreds.
    let int8Bound: Float = hasFewSteps(path.isa) ? 0.09 : 0.06
    let bound = (path.precision == .bf16 ? 0.02 : int8Bound) * Self.allowance(for: tiny.model)
    let error = try Self.error(of: encoder, tiny.sets)
    #expect(error < bound)
    // Exactly equal would mean that the precision was not used.
    #expect(error > 1e-5)
  }

  /// Where no norm follows a layer, errors of all layers add up: torch's bf16 is 0.02 to 0.06 from its f32 there.
  private static func allowance(for model: LoadedModel) -> Float {
    model.configuration.family.norm == .layerNormBefore ? 1.6 : 1
  }

  /// The error over all logits of the sets.
  private static func error(of encoder: Encoder, _ sets: [[TinyModel.Expected]]) throws -> Float {
    let windows = sets.flatMap { $0 }
    let logits = try encoder.logits(of: WindowBatch(windows))
    return relativeError(
      logits.start + logits.end, windows.flatMap(\.start) + windows.flatMap(\.end))
  }

  /// The embeddings of the stored form are rounded too.
  @Test(arguments: TinyModel.names, int8Paths)
  func storedInt8IsNearTransformers(name: String, path: Path) throws {
    let kernels = try #require(Kernels(isa: path.isa))
    let encoder = try Encoder(
      model: Self.quantized(name), precision: .auto, kernels: kernels, threadLimit: 1)
    #expect(encoder.arithmetic == .int8)
    let tiny = try TinyModel(name)
    #expect(try Self.error(of: encoder, tiny.sets) < 0.08 * Self.allowance(for: tiny.model))
  }

  @Test(
    arguments: [
      "tiny-bert", "tiny-electra", "tiny-albert", "tiny-mpnet", "tiny-deberta", "tiny-deberta-v1",
      "tiny-modernbert", "tiny-mobilebert", "tiny-longformer",
    ], paths)
  func neitherCompanyNorThreadsChangeABit(name: String, path: Path) throws {
    let tiny = try TinyModel(name)
    let one = try #require(try tiny.encoder(threads: 1, isa: path.isa, precision: path.precision))
    let many = try #require(try tiny.encoder(threads: 3, isa: path.isa, precision: path.precision))
    let longest = tiny.model.configuration.maxPositions
    let batch = tiny.batch(
      lengths: [90, 128, 1, 7, 128, 55, 31, 128, 99, 128, 197].map { min($0, longest) })
    let together = try one.logits(of: batch)
    let shared = try many.logits(of: batch)
    #expect(together.start == shared.start && together.end == shared.end)
    for window in batch.windows {
      let tokens = window.firstToken..<window.firstToken + window.tokenCount
      let alone = WindowBatch(
        ids: Array(batch.ids[tokens]),
        windows: [Window(firstToken: 0, tokenCount: tokens.count, secondSegment: window.secondSegment)])
      for encoder in [one, many] {
        let logits = try encoder.logits(of: alone)
        #expect(logits.start == Array(together.start[tokens]))
        #expect(logits.end == Array(together.end[tokens]))
      }
    }
  }

  @Test func autoTakesWhatTheCheckpointWasMadeFor() throws {
    let kernels = try #require(Kernels(isa: 0))
    let portable = try #require(Kernels(isa: 1))
    let float = try TinyModel("tiny-bert").model
    #expect(
      try Arithmetic(.auto, model: float, kernels: kernels)
        == (kernels.prefersBF16 ? .bf16 : .f32))
    #expect(try Arithmetic(.auto, model: float, kernels: portable) == .f32)
    let int8 = try Self.quantized("tiny-bert")
    #expect(try Arithmetic(.auto, model: int8, kernels: kernels) == .int8)
  }

  @Test func whatTheKernelsLackIsRefused() throws {
    let portable = try #require(Kernels(isa: 1))
    let tiny = try TinyModel("tiny-bert").model
    let error = failure { _ = try Arithmetic(.bf16, model: tiny, kernels: portable) }
    #expect(error?.status == .unsupported)
    #expect(error?.message.contains("bf16") == true)
  }

  @Test(arguments: int8Paths)
  func storedAndConvertedInt8AreAlike(path: Path) throws {
    let tiny = try TinyModel("tiny-bert")
    let kernels = try #require(Kernels(isa: path.isa))
    let batch = tiny.batch(lengths: [60, 30])
    let stored = try Encoder(
      model: Self.quantized("tiny-bert"), precision: .int8, kernels: kernels, threadLimit: 1)
    let converted = try #require(try tiny.encoder(isa: path.isa, precision: .int8))
    // The embeddings of the stored form are rounded too.
    let error = Self.relativeError(
      try stored.logits(of: batch).start, try converted.logits(of: batch).start)
    let bound: Float = hasFewSteps(path.isa) ? 0.1 : 0.05
    #expect(error < bound)
  }

  private static func quantized(_ name: String) throws -> LoadedModel {
    // Mapped files live on when their names are gone.
    let directory = try TemporaryDirectory()
    try Quantizer.quantize(ModelDirectory(path: TinyModel.path(name)), to: directory.file("int8"))
    return try LoadedModel(ModelDirectory(path: directory.file("int8")))
  }
}
