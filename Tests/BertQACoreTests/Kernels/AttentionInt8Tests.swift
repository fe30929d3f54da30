import Testing

@testable import BertQACore

@Test(.needsS8Attention, arguments: s8AttentionInstructionSets)
func attentionInt8IsNearReference(isa: Int32) throws {
  var random = TestRandom(30)
  let bound: Float = hasFewSteps(isa) ? 0.045 : 0.03
  let cases = [
    (1, 0..<1, 4), (16, 4..<9, 4), (40, 0..<40, 32), (90, 12..<83, 64), (70, 20..<57, 20),
  ]
  for (tokens, window, headDim) in cases {
    let chunk = AttentionChunk(tokens: tokens, headDim: headDim, random: &random)
    let scale = 1 / Float(headDim).squareRoot()
    let expected = chunk.expected(window, scale: scale)
    let out = try chunk.run(.s8, isa, window, queries: 0..<window.count, scale: scale)
    for token in 0..<Kernels.blocks(tokens: tokens) * 16 {
      let row = chunk.row(out, token)
      if window.contains(token) {
        for (a, b) in pairs(row, expected[token - window.lowerBound]) {
          #expect(abs(a - b) <= bound, "window \(window), token \(token): \(a) for \(b)")
        }
      } else {
        #expect(row.allSatisfy { $0 == 7 })
      }
    }
  }
}

/// Where queries and keys are whole steps, nothing is lost but the rounding of weights and values,
/// whatever offset each feature of the keys has. With few steps, four bytes of one sign in a query make 126 of them.
@Test(.needsS8Attention, arguments: s8AttentionInstructionSets)
func attentionInt8OfWholeStepsIsNearer(isa: Int32) throws {
  var random = TestRandom(31)
  let headDim = 16
  let few = hasFewSteps(isa)
  var chunk = AttentionChunk(tokens: 60, headDim: headDim, random: &random)
  for token in 0..<60 {
    for d in 0..<headDim {
      let largest = few ? 31 : 127
      let most = few ? [0: 31, 1: 31, 4: 32, 5: 32] : [0: 127]
      let q = most[d] ?? Int.random(in: -largest...largest, using: &random)
      let k = token == 20 ? 0 : token == 21 ? 253 : Int.random(in: 0...253, using: &random)
      chunk.x[ReferenceKernels.index(token, chunk.q + d, of: chunk.features)] = Float(q) / 64
      chunk.x[ReferenceKernels.index(token, chunk.k + d, of: chunk.features)] =
        Float(k) / 128 + Float(d) * 0.7
    }
  }
  let expected = chunk.expected(8..<51, scale: 0.25)
  let out = try chunk.run(.s8, isa, 8..<51, queries: 0..<43, scale: 0.25)
  for token in 8..<51 {
    for (a, b) in pairs(chunk.row(out, token), expected[token - 8]) {
      #expect(abs(a - b) <= (few ? 0x1p-5 : 0x1p-7), "token \(token): \(a) for \(b)")
    }
  }
}

/// Features of the keys may be far from 0, all on one side: their offsets are whole steps as long as these are wide
/// enough.
@Test(.needsS8Attention, arguments: s8AttentionInstructionSets, [1e6, -1e6] as [Float])
func attentionInt8OfKeysFarFromZero(isa: Int32, offset: Float) throws {
  var random = TestRandom(34)
  var chunk = AttentionChunk(tokens: 40, headDim: 8, random: &random)
  for token in 0..<40 {
    for d in 0..<8 {
      chunk.x[ReferenceKernels.index(token, chunk.q + d, of: chunk.features)] *= 0.2
      chunk.x[ReferenceKernels.index(token, chunk.k + d, of: chunk.features)] += offset
    }
  }
  let expected = chunk.expected(0..<40, scale: 0.3)
  let out = try chunk.run(.s8, isa, 0..<40, queries: 0..<40, scale: 0.3)
  for token in 0..<40 {
    for (a, b) in pairs(chunk.row(out, token), expected[token]) {
      #expect(abs(a - b) <= 0.06, "token \(token): \(a) for \(b)")
    }
  }
}

/// Query ranges, and the place of a window among others, do not change a bit: the steps are
/// those of the window, not of its surroundings.
@Test(.needsS8Attention, arguments: s8AttentionInstructionSets)
func attentionInt8IsTheSameAnywhere(isa: Int32) throws {
  var random = TestRandom(32)
  let alone = AttentionChunk(tokens: 45, headDim: 32, random: &random)
  let expected = try alone.run(.s8, isa, 0..<45, queries: 0..<45, scale: 0.2)
  let places = [
    (0, 3..<17), (4, 0..<45), (8, 0..<5), (12, 40..<45), (16, 0..<45), (60, 7..<44),
  ]
  for (first, queries) in places {
    var chunk = AttentionChunk(tokens: first + 60, headDim: 32, random: &random)
    for i in chunk.x.indices { chunk.x[i] = i % 3 == 0 ? .nan : 5 * chunk.x[i] }
    for token in 0..<45 {
      for f in 0..<chunk.features {
        chunk.x[ReferenceKernels.index(first + token, f, of: chunk.features)] =
          alone.x[ReferenceKernels.index(token, f, of: alone.features)]
      }
    }
    let found = try chunk.run(.s8, isa, first..<first + 45, queries: queries, scale: 0.2)
    for token in 0..<45 {
      let row = chunk.row(found, first + token)
      #expect(
        queries.contains(token) ? row == alone.row(expected, token) : row.allSatisfy { $0 == 7 },
        "at \(first), token \(token)")
    }
  }
}

/// Weights may be hostile: any values give some result, within that of the values as long as products
/// are finite.
@Test(
  .needsS8Attention, arguments: s8AttentionInstructionSets, [0, 1e-37, 1e15, 1e30, Float.infinity, Float.nan])
func attentionInt8OfExtremeValues(isa: Int32, value: Float) throws {
  var random = TestRandom(33)
  var chunk = AttentionChunk(tokens: 20, headDim: 8, random: &random)
  for part in [chunk.q, chunk.k] {
    for d in 0..<8 { chunk.x[ReferenceKernels.index(5, part + d, of: chunk.features)] = value }
  }
  let out = try chunk.run(.s8, isa, 0..<20, queries: 0..<20, scale: 1)
  if value < 1e20 {
    for token in 0..<20 { #expect(chunk.row(out, token).allSatisfy { abs($0) <= 2.01 }) }
  }
}
