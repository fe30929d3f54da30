import Testing

@testable import BertQACore

/// Each plane of features d and d + headDim/2 turns by its lane's angle; nothing else is written.
@Test(arguments: instructionSets, [(1, 2), (3, 10), (2, 64)])
func rotationMatchesReference(isa: Int32, size: (heads: Int, headDim: Int)) throws {
  let table = try #require(Kernels(isa: isa)).table
  var random = TestRandom(30)
  let (heads, headDim) = size
  let x = random.floats(heads * headDim * 16, -4...4)
  let turns = random.floats(headDim * 16)
  let to = GuardedBuffer(x)
  table.rotate_f32(to.base, heads, headDim, turns)
  #expect(to.isIntact)
  for head in 0..<heads {
    for d in 0..<headDim / 2 {
      for lane in 0..<16 {
        let first = (head * headDim + d) * 16 + lane
        let second = first + headDim / 2 * 16
        let (cosine, sine) = (turns[d * 32 + lane], turns[d * 32 + 16 + lane])
        // Two rounded products and a rounded sum, as the reference implementation has them.
        #expect(to.base[first] == x[first] * cosine - x[second] * sine)
        #expect(to.base[second] == x[second] * cosine + x[first] * sine)
      }
    }
  }
}
