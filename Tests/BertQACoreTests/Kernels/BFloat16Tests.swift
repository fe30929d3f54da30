import CBertQA
import Testing

@testable import BertQACore

/// Round to nearest even.
private func bf16(_ x: Float) -> UInt16 {
  let bits = x.bitPattern
  return UInt16((bits &+ 0x7FFF &+ ((bits >> 16) & 1)) >> 16)
}

private func float(_ x: UInt16) -> Float { Float(bitPattern: UInt32(x) << 16) }

private func rounded(_ x: [Float]) -> [Float] { x.map { float(bf16($0)) } }

/// Where pairs of features have `feature` of `token`.
private func pairIndex(_ token: Int, _ feature: Int, of features: Int) -> Int {
  (token / 16 * features + feature / 2 * 2) * 16 + token % 16 * 2 + feature % 2
}

private func pack(_ isa: Int32, _ x: [Float], features: Int) throws -> GuardedBuffer<UInt16> {
  let kernels = try #require(Kernels(isa: isa))
  let to = GuardedBuffer([UInt16](repeating: 0, count: x.count), canary: 0x1234)
  kernels.table.pack_bf16(x, x.count / features / 16, features, to.base)
  #expect(to.isIntact)
  return to
}

@Test(.needsBF16, arguments: bf16InstructionSets)
func packingRoundsToNearestEven(isa: Int32) throws {
  var random = TestRandom(20)
  let features = 6
  var x = random.floats(2 * features * 16, -1e3...1e3)
  x[0] = Float(bitPattern: 0x3F80_8000)  // ties
  x[1] = Float(bitPattern: 0x3F81_8000)
  x[2] = .infinity
  let packed = try pack(isa, x, features: features)
  for token in 0..<32 {
    for f in 0..<features {
      let expected = bf16(x[ReferenceKernels.index(token, f, of: features)])
      #expect(packed.base[pairIndex(token, f, of: features)] == expected)
    }
  }
}

@Test(.needsBF16, arguments: bf16InstructionSets, f32Epilogues + bf16Epilogues)
func linearBFloat16MatchesReference(isa: Int32, epilogue: Int32) throws {
  let kernels = try #require(Kernels(isa: isa))
  var random = TestRandom(21)
  for (blocks, inputs, outs) in [(1, 2, 2), (2, 6, 4), (3, 64, 14), (1, 130, 26), (5, 20, 12), (3, 64, 54)] {
    let w = rounded(random.floats(inputs * outs))
    let weights = GuardedBuffer(w.map(bf16), canary: 0x1234, offset: 1)
    let bias = random.floats(outs)
    let x = rounded(random.floats(blocks * inputs * 16, -3...3))
    let packed = try pack(isa, x, features: inputs)
    let y = random.floats(blocks * outs * 16)
    let plain = epilogue % Kernels.Epilogue.bf16
    let expected = ReferenceKernels.linear(
      weights: w, bias: bias, x: x, blocks: blocks, inputs: inputs, epilogue: plain, y: y)
    func check(_ found: (Int, Int) -> Float, within relative: Float) {
      for token in 0..<blocks * 16 {
        for o in 0..<outs {
          let exact = expected[ReferenceKernels.index(token, o, of: outs)]
          #expect(
            abs(found(token, o) - exact) <= relative * abs(exact) + 4e-5,
            "isa \(isa), epilogue \(epilogue): \(found(token, o)) for \(exact)")
        }
      }
    }
    if plain == epilogue {
      let to = GuardedBuffer(y)
      kernels.table.linear_bf16(
        weights.base, bias, packed.base, blocks, inputs, outs, epilogue, to.base, outs * 16)
      #expect(to.isIntact)
      check({ to.base[ReferenceKernels.index($0, $1, of: outs)] }, within: 1e-5)
    } else {
      let to = GuardedBuffer([UInt16](repeating: 0, count: y.count), canary: 0x1234)
      kernels.table.linear_bf16(
        weights.base, bias, packed.base, blocks, inputs, outs, epilogue, to.base, outs * 16)
      #expect(to.isIntact)
      let index = epilogue == Kernels.Epilogue.bf16 ? ReferenceKernels.index : pairIndex
      check({ float(to.base[index($0, $1, outs)]) }, within: 0x1.01p-8)
    }
  }
}

@Test(.needsBF16, arguments: bf16InstructionSets, f32Epilogues + [Kernels.Epilogue.bf16])
func linearBFloat16IsTheSameInAnyBatch(isa: Int32, epilogue: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  var random = TestRandom(24)
  let (inputs, outs) = (96, 46)
  let w = random.floats(inputs * outs).map(bf16)
  let bias = random.floats(outs)
  let token = random.floats(inputs)
  let residual = random.floats(outs)
  var seen: [Float]?
  for (blocks, at) in [(1, 0), (1, 15), (2, 17), (3, 40), (8, 127), (90, 700)] {
    var x = random.floats(blocks * inputs * 16)
    for k in 0..<inputs { x[ReferenceKernels.index(at, k, of: inputs)] = token[k] }
    var y = random.floats(blocks * outs * 16)
    for o in 0..<outs { y[ReferenceKernels.index(at, o, of: outs)] = residual[o] }
    let packed = try pack(isa, x, features: inputs)
    let found: [Float]
    if epilogue == Kernels.Epilogue.bf16 {
      var halves = [UInt16](repeating: 0, count: y.count)
      table.linear_bf16(w, bias, packed.base, blocks, inputs, outs, epilogue, &halves, outs * 16)
      found = (0..<outs).map { float(halves[ReferenceKernels.index(at, $0, of: outs)]) }
    } else {
      table.linear_bf16(w, bias, packed.base, blocks, inputs, outs, epilogue, &y, outs * 16)
      found = (0..<outs).map { y[ReferenceKernels.index(at, $0, of: outs)] }
    }
    #expect(found == seen ?? found, "isa \(isa), \(blocks) blocks, token \(at)")
    seen = found
  }
}

/// q, k and v of one head, f32 in the lane layout and as the kernel reads them.
struct BFloat16Chunk {
  let tokens: Int
  let headDim: Int
  var x: [Float]

  init(tokens: Int, headDim: Int, random: inout TestRandom) {
    self.tokens = tokens
    self.headDim = headDim
    x = rounded(random.floats(Kernels.blocks(tokens: tokens) * 16 * 3 * headDim, -2...2))
  }

  func run(
    _ isa: Int32, _ window: Range<Int>, queries: Range<Int>, scale: Float, added: AddedToScores? = nil,
    keys: Range<Int>? = nil
  ) throws -> [Float] {
    let kernels = try #require(Kernels(isa: isa))
    let packed = try pack(isa, x, features: 3 * headDim)
    for block in 0..<Kernels.blocks(tokens: tokens) {
      for i in (block * 3 + 2) * headDim * 16..<(block * 3 + 3) * headDim * 16 {
        packed.base[i] = bf16(x[i])
      }
    }
    let out = GuardedBuffer(
      [Float](repeating: 7, count: Kernels.blocks(tokens: tokens) * 16 * headDim))
    let keyRange = keys ?? window
    let scratch = GuardedBuffer([Float](repeating: .nan, count: bq_attention_scratch(keyRange.count)))
    withAttentionCall(
      window, queries, keyRange, features: 3 * headDim, headDim: headDim, scale: scale, added, scratch
    ) {
      kernels.table.attention_bf16(
        $0, packed.base, packed.base + headDim * 16, packed.base + headDim * 32, out.base)
    }
    #expect(out.isIntact && scratch.isIntact)
    return out.elements
  }

  func row(_ out: [Float], _ token: Int) -> [Float] {
    (0..<headDim).map { out[ReferenceKernels.index(token, $0, of: headDim)] }
  }
}

@Test(.needsBF16, arguments: bf16InstructionSets)
func attentionBFloat16MatchesReference(isa: Int32) throws {
  var random = TestRandom(22)
  let cases = [
    (1, 0..<1, 2), (16, 4..<9, 4), (40, 0..<40, 32), (90, 12..<83, 64), (70, 20..<57, 20),
  ]
  for (tokens, window, headDim) in cases {
    let chunk = BFloat16Chunk(tokens: tokens, headDim: headDim, random: &random)
    let scale = 1 / Float(headDim).squareRoot()
    let expected = ReferenceKernels.attention(
      x: chunk.x, features: 3 * headDim, q: 0, k: headDim, v: 2 * headDim, window: window,
      headDim: headDim, scale: scale)
    let out = try chunk.run(isa, window, queries: 0..<window.count, scale: scale)
    for token in 0..<Kernels.blocks(tokens: tokens) * 16 {
      let row = chunk.row(out, token)
      if window.contains(token) {
        for (a, b) in pairs(row, expected[token - window.lowerBound]) {
          #expect(abs(a - b) <= 0x1p-7, "isa \(isa), window \(window), token \(token)")
        }
      } else {
        #expect(row.allSatisfy { $0 == 7 })
      }
    }
  }
}

/// Query ranges, and the place of a window among others, do not change a bit.
@Test(.needsBF16, arguments: bf16InstructionSets)
func attentionBFloat16IsTheSameAnywhere(isa: Int32) throws {
  var random = TestRandom(23)
  let alone = BFloat16Chunk(tokens: 45, headDim: 32, random: &random)
  let expected = try alone.run(isa, 0..<45, queries: 0..<45, scale: 0.2)
  let places = [
    (0, 3..<17), (4, 0..<45), (8, 0..<5), (12, 40..<45), (16, 0..<45), (60, 7..<44),
  ]
  for (first, queries) in places {
    var chunk = BFloat16Chunk(tokens: first + 60, headDim: 32, random: &random)
    for token in 0..<45 {
      for f in 0..<96 {
        chunk.x[ReferenceKernels.index(first + token, f, of: 96)] =
          alone.x[ReferenceKernels.index(token, f, of: 96)]
      }
    }
    let found = try chunk.run(isa, first..<first + 45, queries: queries, scale: 0.2)
    for token in 0..<45 {
      let row = chunk.row(found, first + token)
      #expect(
        queries.contains(token) ? row == alone.row(expected, token) : row.allSatisfy { $0 == 7 },
        "isa \(isa), at \(first), token \(token)")
    }
  }
}
