import Testing

@testable import BertQACore

@Test(arguments: instructionSets)
func layerNormMatchesReference(isa: Int32) throws {
  let kernels = try #require(Kernels(isa: isa))
  var random = TestRandom(3)
  for (blocks, features) in [(1, 1), (2, 3), (3, 24), (1, 386), (2, 768)] {
    let gamma = random.floats(features)
    let beta = random.floats(features)
    // A mean far from zero: a variance by E[x²] - E[x]² would lose every digit.
    let x = random.floats(blocks * features * 16, 99...101)
    let expected = ReferenceKernels.layerNorm(
      x: x, blocks: blocks, gamma: gamma, beta: beta, eps: 1e-5)
    let from = GuardedBuffer(x)
    let to = GuardedBuffer([Float](repeating: 0, count: x.count))
    kernels.table.layer_norm_f32(from.base, blocks, features, gamma, beta, 1e-5, to.base)
    #expect(to.isIntact)
    #expect(from.elements == x)
    // The mean is a few ulps (8e-6) off; dividing by a deviation of about 0.6 enlarges that.
    for (a, b) in pairs(to.elements, expected) { #expect(abs(a - b) <= 1.5e-4) }

    kernels.table.layer_norm_f32(from.base, blocks, features, gamma, beta, 1e-5, from.base)
    #expect(from.elements == to.elements)
  }
}

@Test(arguments: instructionSets)
func layerNormIsTheSameInAnyLane(isa: Int32) throws {
  let kernels = try #require(Kernels(isa: isa))
  var random = TestRandom(4)
  let (blocks, features) = (3, 50)
  let gamma = random.floats(features)
  let beta = random.floats(features)
  let token = random.floats(features)
  var seen: [Float]?
  for at in [0, 5, 15, 16, 31, 47] {
    var x = random.floats(blocks * features * 16)
    for f in 0..<features { x[ReferenceKernels.index(at, f, of: features)] = token[f] }
    let y = GuardedBuffer(x)
    kernels.table.layer_norm_f32(y.base, blocks, features, gamma, beta, 1e-12, y.base)
    let all = y.elements
    let found = (0..<features).map { all[ReferenceKernels.index(at, $0, of: features)] }
    #expect(found == seen ?? found)
    seen = found
  }
}
