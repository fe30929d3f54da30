import CBertQA
import Testing

@testable import BertQACore

/// q, k, v of two heads side by side; tests compute the second.
struct AttentionChunk: Sendable {
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

  func expected(
    _ window: Range<Int>, scale: Float, added: AddedToScores? = nil
  ) -> [[Float]] {
    ReferenceKernels.attention(
      x: x, features: features, q: q, k: k, v: v, window: window, headDim: headDim, scale: scale,
      added: added)
  }

  /// The output buffer, 7 where nothing was written.
  /// - Parameters:
  ///   - window: the tokens of the chunk that are queries and keys.
  ///   - queries: those to compute, counted within the window.
  ///   - keys: those of the window to attend to, of the chunk; nil: all.
  func run(
    _ kernel: Kernel, _ isa: Int32, _ window: Range<Int>, queries: Range<Int>, scale: Float,
    added: AddedToScores? = nil, keys: Range<Int>? = nil
  ) throws -> [Float] {
    let table = try #require(Kernels(isa: isa)).table
    let attention = try #require(kernel == .f32 ? table.attention_f32 : table.attention_s8)
    let keyRange = keys ?? window
    let size =
      kernel == .f32
      ? bq_attention_scratch(keyRange.count) : bq_attention_s8_scratch(keyRange.count, headDim)
    let from = GuardedBuffer(x)
    let out = GuardedBuffer(
      [Float](repeating: 7, count: Kernels.blocks(tokens: tokens) * 16 * headDim))
    // NaN, as no kernel may read what it has not written.
    let scratch = GuardedBuffer([Float](repeating: .nan, count: size))
    withAttentionCall(
      window, queries, keyRange, features: features, headDim: headDim, scale: scale, added, scratch
    ) {
      attention($0, from.base + q * 16, from.base + k * 16, from.base + v * 16, out.base)
    }
    #expect(out.isIntact && scratch.isIntact)
    return out.elements
  }

  func row(_ out: [Float], _ token: Int) -> [Float] {
    (0..<headDim).map { out[ReferenceKernels.index(token, $0, of: headDim)] }
  }
}

/// Calls `body` with the arguments that say what attends to what.
func withAttentionCall(
  _ window: Range<Int>, _ queries: Range<Int>, _ keys: Range<Int>, features: Int, headDim: Int, scale: Float,
  _ added: AddedToScores?, _ scratch: GuardedBuffer<Float>, _ body: (UnsafePointer<bq_attention>) -> Void
) {
  var call = bq_attention()
  call.stride = features * 16
  (call.key_begin, call.key_end) = (keys.lowerBound, keys.upperBound)
  call.query_begin = window.lowerBound + queries.lowerBound
  call.query_end = window.lowerBound + queries.upperBound
  call.head_dim = headDim
  call.scale = scale
  call.scratch = scratch.base
  call.out_stride = headDim * 16
  call.band = added?.band ?? 0
  call.bias_stride = keys.count * 16
  call.bias_step = 16
  let bias = added?.tiles(call)
  call.bias = bias.map { UnsafePointer($0.base) }
  withExtendedLifetime(bias) { body(&call) }
}

/// The numbers that attention adds to scores, by tokens of the chunk.
struct AddedToScores: Sendable {
  var bias: (@Sendable (_ query: Int, _ key: Int) -> Float)?
  /// 0: none
  var band = 0

  /// Returns the number added to a score before the scale, as the reference computes it.
  func value(_ query: Int, _ key: Int) -> Double {
    if band > 0, abs(query - key) > band { return -.infinity }
    return Double(bias?(query, key) ?? 0)
  }

  /// The bias as the kernels read it, with NaN in the lanes that are no query's.
  func tiles(_ call: bq_attention) -> GuardedBuffer<Float>? {
    guard let bias else { return nil }
    let blocks = call.query_begin / 16..<max(call.query_begin / 16, (call.query_end + 15) / 16)
    let keys = call.key_begin..<call.key_end
    var values = [Float](repeating: .nan, count: blocks.count * keys.count * 16)
    for query in call.query_begin..<call.query_end {
      for key in keys {
        let row = (query / 16 - blocks.lowerBound) * keys.count + key - keys.lowerBound
        values[row * 16 + query % 16] = bias(query, key)
      }
    }
    return GuardedBuffer(values)
  }
}
