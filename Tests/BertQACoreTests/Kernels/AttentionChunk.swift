import CBertQA
import Testing

@testable import BertQACore

/// q, k, v of two heads side by side, the second of which is asked for.
struct AttentionChunk {
  enum Kernel { case f32, s8 }

  let headDim: Int
  let tokens: Int
  var x: [Float]
  var features: Int { 6 * headDim }
  var q: Int { headDim }
  var k: Int { 3 * headDim }
  var v: Int { 5 * headDim }

  init(tokens: Int, headDim: Int, random: inout TestRandom) {
    self.headDim = headDim
    self.tokens = tokens
    x = random.floats(Kernels.blocks(tokens: tokens) * 16 * 6 * headDim, -2...2)
  }

  func expected(_ window: Range<Int>, scale: Float) -> [[Float]] {
    ReferenceKernels.attention(
      x: x, features: features, q: q, k: k, v: v, window: window, headDim: headDim, scale: scale)
  }

  /// The output buffer, 7 where nothing was written.
  func run(
    _ kernel: Kernel, _ isa: Int32, _ window: Range<Int>, queries: Range<Int>, scale: Float
  ) throws -> [Float] {
    let table = try #require(Kernels(isa: isa)).table
    let attention = try #require(kernel == .f32 ? table.attention_f32 : table.attention_s8)
    let size =
      kernel == .f32
      ? bq_attention_scratch(window.count) : bq_attention_s8_scratch(window.count, headDim)
    let from = GuardedBuffer(x)
    let out = GuardedBuffer(
      [Float](repeating: 7, count: Kernels.blocks(tokens: tokens) * 16 * headDim))
    let scratch = GuardedBuffer([Float](repeating: 0, count: size))
    attention(
      from.base + q * 16, from.base + k * 16, from.base + v * 16, features * 16,
      window.lowerBound, window.count, queries.lowerBound, queries.upperBound, headDim, scale,
      scratch.base, out.base, headDim * 16)
    #expect(out.isIntact && scratch.isIntact)
    return out.elements
  }

  func row(_ out: [Float], _ token: Int) -> [Float] {
    (0..<headDim).map { out[ReferenceKernels.index(token, $0, of: headDim)] }
  }
}
