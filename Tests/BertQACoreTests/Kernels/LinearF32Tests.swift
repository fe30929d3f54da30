import Testing

@testable import BertQACore

/// Runs `linear_f32` with weights that are aligned to nothing but 4 bytes.
private func linear(
  _ isa: Int32, weights: [Float], bias: [Float], x: [Float], blocks: Int, inputs: Int,
  epilogue: Int32, y: [Float], gap: Int = 0
) throws -> [Float] {
  let kernels = try #require(Kernels(isa: isa))
  let outs = bias.count
  let stride = outs * 16 + gap
  let w = GuardedBuffer(weights, offset: 1)
  let b = GuardedBuffer(bias, offset: 3)
  let from = GuardedBuffer(x)
  var rows: [Float] = []
  for block in 0..<blocks {
    rows += y[block * outs * 16..<(block + 1) * outs * 16]
    rows += [Float](repeating: 7, count: gap)
  }
  let to = GuardedBuffer(rows)
  kernels.table.linear_f32(
    w.base, b.base, from.base, blocks, inputs, outs, epilogue, to.base, stride)
  #expect(to.isIntact)
  let result = to.elements
  for block in 0..<blocks {
    #expect(result[block * stride + outs * 16..<(block + 1) * stride].allSatisfy { $0 == 7 })
  }
  return (0..<blocks).flatMap { result[$0 * stride..<$0 * stride + outs * 16] }
}

@Test(arguments: instructionSets, f32Epilogues)
func linearMatchesReference(isa: Int32, epilogue: Int32) throws {
  var random = TestRandom(Int(epilogue) + 1)
  let shapes = [(1, 1, 1), (2, 3, 2), (3, 7, 13), (1, 64, 25), (2, 33, 12), (5, 20, 38), (1, 384, 5)]
  for (blocks, inputs, outs) in shapes {
    let w = random.floats(inputs * outs)
    let bias = random.floats(outs)
    let x = random.floats(blocks * inputs * 16, -3...3)
    let y = random.floats(blocks * outs * 16)
    let expected = ReferenceKernels.linear(
      weights: w, bias: bias, x: x, blocks: blocks, inputs: inputs, epilogue: epilogue, y: y)
    let found = try linear(
      isa, weights: w, bias: bias, x: x, blocks: blocks, inputs: inputs, epilogue: epilogue, y: y,
      gap: 16)
    // A chain of n roundings, each of half an ulp of a partial sum below 3·n.
    let bound = Float(inputs + 4) * Float(inputs) * 3 * 0x1p-24 + 4e-6
    for i in expected.indices {
      #expect(abs(found[i] - expected[i]) <= bound, "isa \(isa) \(blocks)×\(inputs)→\(outs) at \(i)")
    }
  }
}

/// Inputs and residuals of 90 blocks, the company of one token. To draw them takes longer than to use them.
private let company = { (inputs: Int, outs: Int) in
  var random = TestRandom(8)
  return (x: random.floats(90 * inputs * 16), y: random.floats(90 * outs * 16))
}(100, 29)

/// The promise that batches do not change results: any token, in any lane of any block of any batch.
@Test(arguments: instructionSets, f32Epilogues)
func linearIsTheSameInAnyBatch(isa: Int32, epilogue: Int32) throws {
  var random = TestRandom(9)
  let (inputs, outs) = (100, 29)
  let w = random.floats(inputs * outs)
  let bias = random.floats(outs)
  let token = random.floats(inputs)
  let residual = random.floats(outs)
  var seen: [Float]?
  for blocks in [1, 2, 3, 8, 90] {
    var x = Array(company.x.prefix(blocks * inputs * 16))
    var y = Array(company.y.prefix(blocks * outs * 16))
    for at in [0, blocks * 16 - 1, Int.random(in: 0..<blocks * 16, using: &random)] {
      for k in 0..<inputs { x[ReferenceKernels.index(at, k, of: inputs)] = token[k] }
      for o in 0..<outs { y[ReferenceKernels.index(at, o, of: outs)] = residual[o] }
      let all = try linear(
        isa, weights: w, bias: bias, x: x, blocks: blocks, inputs: inputs, epilogue: epilogue, y: y)
      let found = (0..<outs).map { all[ReferenceKernels.index(at, $0, of: outs)] }
      #expect(found == seen ?? found, "isa \(isa), \(blocks) blocks, token \(at)")
      seen = found
    }
  }
}

/// Where there is a fused multiply-add, each output is one chain of them, k ascending.
@Test(.needsFMA, arguments: fusedInstructionSets)
func linearIsOneChainOfMultiplyAdds(isa: Int32) throws {
  var random = TestRandom(5)
  let (blocks, inputs, outs) = (3, 517, 15)
  let w = random.floats(inputs * outs)
  let x = random.floats(blocks * inputs * 16)
  let found = try linear(
    isa, weights: w, bias: .init(repeating: 0, count: outs), x: x, blocks: blocks, inputs: inputs,
    epilogue: 0, y: .init(repeating: 0, count: blocks * outs * 16))
  for token in [0, 17, 47] {
    for o in 0..<outs {
      let sum = (0..<inputs).reduce(Float(0)) {
        $0.addingProduct(w[o * inputs + $1], x[ReferenceKernels.index(token, $1, of: inputs)])
      }
      #expect(found[ReferenceKernels.index(token, o, of: outs)] == sum)
    }
  }
}
