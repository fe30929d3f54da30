import CBertQA
import Testing

@testable import BertQACore

/// Random weights of a linear layer, unaligned.
private struct Int8Layer {
  let inputs: Int
  let outs: Int
  let w: GuardedBuffer<Int8>
  let scale: [Float]
  let bias: [Float]
  let sums: [Float]

  init(inputs: Int, outs: Int, random: inout TestRandom) {
    self.inputs = inputs
    self.outs = outs
    let weights = (0..<inputs * outs).map { _ in Int8.random(in: -127...127, using: &random) }
    w = GuardedBuffer(weights, canary: 99, offset: 1)
    scale = random.floats(outs, 0.001...0.01)
    bias = random.floats(outs)
    var sums = [Float](repeating: 0, count: outs)
    bq_row_sums_s8(w.base, scale, outs, inputs, &sums)
    self.sums = sums
  }

  /// Weights of zero.
  init(inputs: Int, bias: [Float]) {
    self.inputs = inputs
    self.bias = bias
    outs = bias.count
    w = GuardedBuffer([Int8](repeating: 0, count: inputs * outs), canary: 99)
    scale = [Float](repeating: 1, count: outs)
    sums = [Float](repeating: 0, count: outs)
  }

  func run(
    _ isa: Int32, _ x: Quantized, blocks: Int, epilogue: Int32, y: [Float]
  ) throws -> [Float] {
    let kernels = try #require(Kernels(isa: isa))
    let to = GuardedBuffer(y)
    var large: [UInt64] = []
    if let find = kernels.table.find_large_s8 {
      large = .init(repeating: 0, count: outs * bq_large_words(inputs))
      find(w.base, outs, inputs, &large)
    }
    scale.withUnsafeBufferPointer { scale in
      bias.withUnsafeBufferPointer { bias in
        sums.withUnsafeBufferPointer { sums in
          large.withUnsafeBufferPointer { large in
            var weights = bq_weights_s8(
              w: w.base, scale: scale.baseAddress, sums: sums.baseAddress, bias: bias.baseAddress,
              large: large.isEmpty ? nil : large.baseAddress)
            kernels.table.linear_s8(
              &weights, x.u8, x.scale, x.offset, blocks, inputs, outs, epilogue, to.base, outs * 16)
          }
        }
      }
    }
    #expect(to.isIntact)
    return to.elements
  }
}

private struct Quantized: Equatable {
  var u8: [UInt8]
  var scale: [Float]
  var offset: [Float]

  /// Returns the value of one element in lane layout.
  func value(_ token: Int, _ feature: Int, of features: Int) -> Float {
    let at = (token / 16 * features + feature / 4 * 4) * 16 + token % 16 * 4 + feature % 4
    return scale[token] * Float(u8[at]) + offset[token]
  }
}

private func quantize(_ isa: Int32, _ x: [Float], blocks: Int) throws -> Quantized {
  let kernels = try #require(Kernels(isa: isa))
  let bytes = GuardedBuffer([UInt8](repeating: 0, count: x.count), canary: 99)
  let scale = GuardedBuffer([Float](repeating: 0, count: blocks * 16))
  let offset = GuardedBuffer([Float](repeating: 0, count: blocks * 16))
  kernels.table.quantize_u8(
    x, blocks, x.count / blocks / 16, bytes.base, scale.base, offset.base)
  #expect(bytes.isIntact && scale.isIntact && offset.isIntact)
  return Quantized(u8: bytes.elements, scale: scale.elements, offset: offset.elements)
}

@Test(arguments: instructionSets)
func quantizationIsWithinHalfAStep(isa: Int32) throws {
  let steps = try #require(Kernels(isa: isa)).table.byte_steps
  var random = TestRandom(11)
  for (blocks, features) in [(1, 4), (2, 20), (3, 384)] {
    var x = random.floats(blocks * features * 16, -1...5)
    // Tokens of one sign, of one value, of zeros, of enormous and of tiny values.
    for f in 0..<features {
      x[ReferenceKernels.index(0, f, of: features)] = Float(f + 1)
      x[ReferenceKernels.index(1, f, of: features)] = -7
      x[ReferenceKernels.index(2, f, of: features)] = 0
      x[ReferenceKernels.index(3, f, of: features)] *= 1e37
      x[ReferenceKernels.index(4, f, of: features)] *= 1e-28
    }
    let q = try quantize(isa, x, blocks: blocks)
    for token in 0..<blocks * 16 {
      let values = (0..<features).map { x[ReferenceKernels.index(token, $0, of: features)] }
      let range = max(values.max() ?? 0, 0) - min(values.min() ?? 0, 0)
      #expect(abs(q.scale[token] * Float(steps) - range) <= range * 1e-5 + 1e-30)
      for f in 0..<features {
        let error = abs(q.value(token, f, of: features) - values[f])
        #expect(error <= 0.5001 * q.scale[token] + 1e-30, "token \(token), \(values[f])")
      }
    }
  }
}

/// The instruction sets with FMA by the steps that they cut a token's range into: within a group, results do not
/// depend on the instruction set.
private let fusedGroups = Dictionary(grouping: fusedInstructionSets) {
  Kernels(isa: $0)?.table.byte_steps ?? 0
}

/// Results depend neither on the lane nor on the other tokens, and with FMA not on the instruction
/// set either.
@Test(.needsFMA)
func quantizationOfATokenIsAlwaysTheSame() throws {
  var random = TestRandom(12)
  let features = 48
  let token = random.floats(features)
  for group in fusedGroups.values {
    var seen: [Float]?
    for (isa, at) in group.flatMap({ isa in [0, 7, 15, 16, 47].map { (isa, $0) } }) {
      var x = random.floats(3 * features * 16, -9...9)
      for f in 0..<features { x[ReferenceKernels.index(at, f, of: features)] = token[f] }
      let q = try quantize(isa, x, blocks: 3)
      let found = (0..<features).map { q.value(at, $0, of: features) }
      #expect(found == seen ?? found)
      seen = found
    }
  }
}

@Test(arguments: instructionSets, f32Epilogues)
func linearInt8MatchesReference(isa: Int32, epilogue: Int32) throws {
  var random = TestRandom(13 + Int(epilogue))
  let shapes = [(1, 4, 1), (2, 8, 3), (3, 64, 13), (1, 128, 25), (5, 20, 12), (1, 384, 5), (3, 64, 53)]
  for (blocks, inputs, outs) in shapes {
    let layer = Int8Layer(inputs: inputs, outs: outs, random: &random)
    let x = try quantize(isa, random.floats(blocks * inputs * 16, -3...5), blocks: blocks)
    let y = random.floats(blocks * outs * 16)
    let found = try layer.run(isa, x, blocks: blocks, epilogue: epilogue, y: y)
    let weights = (0..<inputs * outs).map { Float(layer.w.base[$0]) * layer.scale[$0 / inputs] }
    var values = [Float](repeating: 0, count: blocks * inputs * 16)
    for token in 0..<blocks * 16 {
      for k in 0..<inputs {
        values[ReferenceKernels.index(token, k, of: inputs)] = x.value(token, k, of: inputs)
      }
    }
    let expected = ReferenceKernels.linear(
      weights: weights, bias: layer.bias, x: values, blocks: blocks, inputs: inputs,
      epilogue: epilogue, y: y)
    for i in expected.indices {
      // Weights and values above are rounded to f32; GELU's own error is 6e-6.
      #expect(abs(found[i] - expected[i]) <= 2e-5 * max(1, abs(expected[i])), "isa \(isa) at \(i)")
    }
  }
}

/// The extreme products, whose sums of pairs do not fit 16 bits, and long sums of them: with unit
/// scales the result is the exact integer.
@Test(arguments: instructionSets)
func int8ProductsDoNotSaturate(isa: Int32) throws {
  let kernels = try #require(Kernels(isa: isa))
  let most = UInt8(kernels.table.byte_steps + 2)
  for (weight, byte) in [(Int8(-128), most), (127, most), (-128, 1)] {
    let inputs = 256
    let w = [Int8](repeating: weight, count: inputs)
    let x = [UInt8](repeating: byte, count: inputs * 16)
    let ones = [Float](repeating: 1, count: 16)
    let zeros = [Float](repeating: 0, count: 16)
    var y = zeros
    w.withUnsafeBufferPointer { w in
      ones.withUnsafeBufferPointer { ones in
        zeros.withUnsafeBufferPointer { zeros in
          [Float(0)].withUnsafeBufferPointer { sums in
            var weights = bq_weights_s8(
              w: w.baseAddress, scale: ones.baseAddress, sums: sums.baseAddress,
              bias: zeros.baseAddress, large: nil)
            kernels.table.linear_s8(
              &weights, x, ones.baseAddress, zeros.baseAddress, 1, inputs, 1, 0, &y, 16)
          }
        }
      }
    }
    #expect(y.allSatisfy { $0 == Float(inputs * Int(weight) * Int(byte)) })
  }
}

@Test(.needsFMA)
func linearInt8IsTheSameInAnyBatchAndWithAnyFMA() throws {
  var random = TestRandom(14)
  let (inputs, outs) = (128, 53)
  let layer = Int8Layer(inputs: inputs, outs: outs, random: &random)
  let token = random.floats(inputs)
  for group in fusedGroups.values {
    var seen: [Float]?
    for (isa, (blocks, at)) in group.flatMap({ isa in
      [(1, 3), (2, 31), (3, 0), (90, 700)].map { (isa, $0) }
    }) {
      var x = random.floats(blocks * inputs * 16)
      for k in 0..<inputs { x[ReferenceKernels.index(at, k, of: inputs)] = token[k] }
      let all = try layer.run(
        isa, quantize(isa, x, blocks: blocks), blocks: blocks, epilogue: 0,
        y: .init(repeating: 0, count: blocks * outs * 16))
      let found = (0..<outs).map { all[ReferenceKernels.index(at, $0, of: outs)] }
      #expect(found == seen ?? found, "isa \(isa), \(blocks) blocks")
      seen = found
    }
  }
}

/// Weights of zero make the layer an activation of its bias.
@Test(arguments: instructionSets, ReferenceKernels.activations.keys.sorted())
func activationsOfInt8LayersAreWithinTheirBounds(isa: Int32, epilogue: Int32) throws {
  let exactly = try #require(ReferenceKernels.activations[epilogue])
  var random = TestRandom(15)
  let special: [Float] = [0, -0.0, 1e-30, -1e-30, 4.8, -4.8, 5, -5, 1e30, -1e30, .infinity]
  let bias = special + random.floats(1000, -7...7)
  let layer = Int8Layer(inputs: 4, bias: bias)
  let x = Quantized(
    u8: .init(repeating: 100, count: 64), scale: .init(repeating: 1, count: 16),
    offset: .init(repeating: 1, count: 16))
  let found = try layer.run(
    isa, x, blocks: 1, epilogue: epilogue, y: .init(repeating: 0, count: bias.count * 16))
  for (o, value) in bias.enumerated() {
    let exact = Float(exactly(Double(value)))
    let isGELU = [Kernels.Epilogue.gelu, Kernels.Epilogue.geluTanh].contains(epilogue)
    let bound: Float = isGELU ? 6e-6 : 0
    for y in found[o * 16..<o * 16 + 16] {
      #expect(y == exact || abs(y - exact) <= bound + 5e-7 * abs(value), "\(epilogue): f(\(value)) = \(y)")
    }
  }
}
