import Testing

@testable import BertQACore

@Test(arguments: instructionSets)
func attentionMatchesReference(isa: Int32) throws {
  var random = TestRandom(6)
  let cases = [
    (1, 0..<1, 1), (16, 4..<9, 3), (40, 0..<40, 32), (90, 12..<83, 64), (70, 20..<57, 20),
  ]
  for (tokens, window, headDim) in cases {
    let chunk = AttentionChunk(tokens: tokens, headDim: headDim, random: &random)
    let scale = 1 / Float(headDim).squareRoot()
    let expected = chunk.expected(window, scale: scale)
    let out = try chunk.run(.f32, isa, window, queries: 0..<window.count, scale: scale)
    for token in 0..<Kernels.blocks(tokens: tokens) * 16 {
      let row = chunk.row(out, token)
      if window.contains(token) {
        for (a, b) in pairs(row, expected[token - window.lowerBound]) {
          #expect(abs(a - b) <= 1e-5, "isa \(isa), window \(window), token \(token)")
        }
      } else {
        #expect(row.allSatisfy { $0 == 7 }, "isa \(isa): wrote token \(token) outside \(window)")
      }
    }
  }
}

/// Threads may share a window's queries in any way.
@Test(arguments: instructionSets)
func attentionOfQueryRangesIsThatOfTheWhole(isa: Int32) throws {
  var random = TestRandom(7)
  let chunk = AttentionChunk(tokens: 100, headDim: 32, random: &random)
  let window = 8..<95
  let whole = try chunk.run(.f32, isa, window, queries: 0..<window.count, scale: 0.3)
  for queries in [0..<1, 0..<20, 3..<4, 20..<56, 56..<87, 86..<87, 7..<9, 5..<5] {
    let part = try chunk.run(.f32, isa, window, queries: queries, scale: 0.3)
    for query in 0..<window.count {
      let token = window.lowerBound + query
      let row = chunk.row(part, token)
      #expect(queries.contains(query) ? row == chunk.row(whole, token) : row.allSatisfy { $0 == 7 })
    }
  }
}

/// A window leads to the same bits at every place in a batch, whatever surrounds it.
@Test(arguments: instructionSets)
func attentionIsTheSameAtAnyPlaceOfTheBatch(isa: Int32) throws {
  var random = TestRandom(8)
  let alone = AttentionChunk(tokens: 45, headDim: 32, random: &random)
  let expected = try alone.run(.f32, isa, 0..<45, queries: 0..<45, scale: 0.2)
  for first in [4, 8, 12, 16, 28, 64] {
    var chunk = AttentionChunk(tokens: first + 60, headDim: 32, random: &random)
    for token in 0..<45 {
      for f in 0..<chunk.features {
        chunk.x[ReferenceKernels.index(first + token, f, of: chunk.features)] =
          alone.x[ReferenceKernels.index(token, f, of: alone.features)]
      }
    }
    let found = try chunk.run(.f32, isa, first..<first + 45, queries: 0..<45, scale: 0.2)
    for token in 0..<45 {
      #expect(chunk.row(found, first + token) == alone.row(expected, token), "isa \(isa), at \(first)")
    }
  }
}

/// Weights may be hostile: scores of any size, and NaN, stay in their own query.
@Test(arguments: instructionSets)
func attentionOfExtremeValues(isa: Int32) throws {
  var random = TestRandom(10)
  var chunk = AttentionChunk(tokens: 20, headDim: 8, random: &random)
  for d in 0..<8 {
    chunk.x[ReferenceKernels.index(3, chunk.q + d, of: chunk.features)] = 1e19
    chunk.x[ReferenceKernels.index(5, chunk.q + d, of: chunk.features)] = .nan
  }
  let out = try chunk.run(.f32, isa, 0..<20, queries: 0..<20, scale: 1)
  for token in 0..<20 {
    #expect(chunk.row(out, token).allSatisfy { token == 5 ? $0.isNaN : $0.isFinite })
  }
}
