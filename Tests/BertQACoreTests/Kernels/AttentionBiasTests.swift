import CBertQA
import Testing

@testable import BertQACore

/// An attention kernel of an instruction set that this machine has.
struct AttentionKernel: Sendable, CustomTestStringConvertible {
  enum Number { case f32, bf16, s8 }

  let number: Number
  let isa: Int32
  var testDescription: String { "\(number), isa \(isa)" }

  static let all =
    instructionSets.map { Self(number: .f32, isa: $0) }
    + bf16InstructionSets.map { Self(number: .bf16, isa: $0) }
    + s8AttentionInstructionSets.map { Self(number: .s8, isa: $0) }

  /// The tolerance for one output, for values in -2...2.
  var tolerance: Float {
    switch number {
    case .f32: 1e-5
    case .bf16: 0x1p-7
    case .s8: hasFewSteps(isa) ? 0.06 : 0.04
    }
  }
}

/// Random q, k and v of one head. The numbers are bfloat16s, so that all kernels have the same.
private struct BiasedChunk: Sendable {
  let headDim: Int
  var f32: AttentionChunk

  init(tokens: Int, headDim: Int, random: inout TestRandom) {
    self.headDim = headDim
    f32 = AttentionChunk(tokens: tokens, headDim: headDim, random: &random)
    for i in f32.x.indices { f32.x[i] = Float(bitPattern: f32.x[i].bitPattern & 0xFFFF_0000) }
  }

  /// `rows[query]` of the window; those not asked for as they were, 7.
  func run(
    _ kernel: AttentionKernel, _ window: Range<Int>, queries: Range<Int>? = nil, scale: Float,
    _ added: AddedToScores, keys: Range<Int>? = nil
  ) throws -> [[Float]] {
    let queries = queries ?? 0..<window.count
    let out: [Float]
    switch kernel.number {
    case .f32, .s8:
      out = try f32.run(
        kernel.number == .f32 ? .f32 : .s8, kernel.isa, window, queries: queries, scale: scale,
        added: added, keys: keys)
    case .bf16:
      var random = TestRandom(0)
      var chunk = BFloat16Chunk(tokens: f32.tokens, headDim: headDim, random: &random)
      for block in 0..<Kernels.blocks(tokens: f32.tokens) {
        for (part, first) in [f32.q, f32.k, f32.v].enumerated() {
          for i in 0..<headDim * 16 {
            chunk.x[(block * 3 + part) * headDim * 16 + i] = f32.x[(block * 6 * headDim + first) * 16 + i]
          }
        }
      }
      out = try chunk.run(
        kernel.isa, window, queries: queries, scale: scale, added: added, keys: keys)
    }
    return window.map { f32.row(out, $0) }
  }
}

/// Between -4 and 4 from the tokens' distance, and for a third of the pairs -∞, but for a token itself.
private func bias(_ query: Int, _ key: Int, from first: Int) -> Float {
  let (query, key) = (query - first, key - first)
  if query != key, (query * 7 + key * 5) % 3 == 0 { return -.infinity }
  return Float((query * 31 + key * 17) % 64 - 32) / 8
}

/// A window with what the reference makes of it, which takes longer than all kernels.
private struct BiasedWindow: Sendable {
  let chunk: BiasedChunk
  let window: Range<Int>
  let scale: Float
  let added: AddedToScores
  let expected: [[Float]]

  static let all: [BiasedWindow] = {
    var random = TestRandom(40)
    let cases = [
      (1, 0..<1, 4), (16, 4..<9, 4), (40, 0..<40, 32), (90, 12..<83, 64), (70, 20..<57, 20),
    ]
    return cases.flatMap { tokens, window, headDim in
      let chunk = BiasedChunk(tokens: tokens, headDim: headDim, random: &random)
      let scale = 1 / Float(headDim).squareRoot()
      let first = window.lowerBound
      return [
        AddedToScores { bias($0, $1, from: first) }, AddedToScores(band: 9),
        AddedToScores(bias: { bias($0, $1, from: first) }, band: 5),
      ].map { added in
        BiasedWindow(
          chunk: chunk, window: window, scale: scale, added: added,
          expected: chunk.f32.expected(window, scale: scale, added: added))
      }
    }
  }()
}

@Test(arguments: AttentionKernel.all)
func attentionWithBiasMatchesReference(kernel: AttentionKernel) throws {
  for each in BiasedWindow.all {
    let found = try each.chunk.run(kernel, each.window, scale: each.scale, each.added)
    #expect(found.count == each.expected.count)
    for (row, exact) in zip(found, each.expected) {
      let isNear = row.count == exact.count && zip(row, exact).allSatisfy { abs($0 - $1) <= kernel.tolerance }
      #expect(isNear, "\(kernel), window \(each.window): \(row) for \(exact)")
    }
  }
}

/// The place of a window in the chunk and the way its queries are shared do not change a bit.
@Test(arguments: AttentionKernel.all)
func attentionWithBiasIsTheSameAnywhere(kernel: AttentionKernel) throws {
  var random = TestRandom(41)
  let alone = BiasedChunk(tokens: 45, headDim: 32, random: &random)
  let expected = try alone.run(
    kernel, 0..<45, scale: 0.2, AddedToScores(bias: { bias($0, $1, from: 0) }, band: 30))
  for (first, queries) in [(0, 3..<17), (4, 0..<45), (12, 40..<45), (16, 0..<45), (60, 7..<44)] {
    var chunk = BiasedChunk(tokens: first + 60, headDim: 32, random: &random)
    for token in 0..<45 {
      for f in 0..<alone.f32.features {
        chunk.f32.x[ReferenceKernels.index(first + token, f, of: alone.f32.features)] =
          alone.f32.x[ReferenceKernels.index(token, f, of: alone.f32.features)]
      }
    }
    let added = AddedToScores(bias: { bias($0, $1, from: first) }, band: 30)
    let found = try chunk.run(kernel, first..<first + 45, queries: queries, scale: 0.2, added)
    for query in 0..<45 {
      #expect(
        queries.contains(query) ? found[query] == expected[query] : found[query].allSatisfy { $0 == 7 },
        "\(kernel) at \(first), query \(query)")
    }
  }
}

/// With the keys of a band alone in reach, queries have what they have with all keys: for floats the
/// same bits, for bytes other steps.
@Test(arguments: AttentionKernel.all)
func attentionWithinABandNeedsItsKeysOnly(kernel: AttentionKernel) throws {
  var random = TestRandom(42)
  let chunk = BiasedChunk(tokens: 200, headDim: 32, random: &random)
  let (window, added) = (8..<190, AddedToScores(band: 20))
  let whole = try chunk.run(kernel, window, scale: 0.3, added)
  for queries in [0..<16, 3..<50, 60..<92, 150..<182, 181..<182] {
    let lower = max(0, queries.lowerBound - 20) & ~3
    let keys = window.lowerBound + lower..<min(190, window.lowerBound + queries.upperBound + 20)
    let part = try chunk.run(kernel, window, queries: queries, scale: 0.3, added, keys: keys)
    for query in queries {
      if kernel.number == .s8 {
        for (a, b) in zip(part[query], whole[query]) { #expect(abs(a - b) <= 2 * kernel.tolerance) }
      } else {
        #expect(part[query] == whole[query], "\(kernel), queries \(queries), query \(query)")
      }
    }
  }
}

/// A key that is not attended to has no weight at all, however large its score and its value. Bytes have a
/// step for all values of a feature, so there the value is as large as that of another key.
@Test(arguments: AttentionKernel.all)
func attentionLeavesOutWhatIsNotAttendedTo(kernel: AttentionKernel) throws {
  var random = TestRandom(43)
  var chunk = BiasedChunk(tokens: 32, headDim: 8, random: &random)
  for added in [AddedToScores { _, key in key == 20 ? -.infinity : 0 }, AddedToScores(band: 4)] {
    let rows = try [false, true].map { isLarge in
      for d in 0..<8 {
        func place(_ key: Int) -> Int {
          ReferenceKernels.index(key, chunk.f32.v + d, of: chunk.f32.features)
        }
        let others = (0..<32).filter { $0 != 20 }.map { abs(chunk.f32.x[place($0)]) }
        // Without VNNI, the step is that of the largest sum of two neighbors.
        chunk.f32.x[place(21)] = 0
        let large = kernel.number == .s8 ? others.max()! : 0x1p127
        chunk.f32.x[place(20)] = isLarge ? large : 0
      }
      return try chunk.run(kernel, 0..<32, scale: 1, added)
    }
    for query in 0..<32 where added.value(query, 20) == -.infinity {
      #expect(rows[1][query] == rows[0][query], "\(kernel), query \(query)")
    }
  }
}
