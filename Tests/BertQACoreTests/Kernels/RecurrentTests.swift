import CBertQA
import Testing

@testable import BertQACore

private let formats = [Int32(BQ_FORMAT_F32), Int32(BQ_FORMAT_F16), Int32(BQ_FORMAT_BF16)]

/// Random weights in a format: their values and their bytes, which begin at an odd address.
private struct StoredWeights {
  let values: [Float]
  private let buffer: GuardedBuffer<UInt8>

  init(_ count: Int, format: Int32, _ random: inout TestRandom) {
    var bytes: [UInt8] = []
    values = random.floats(count).map { value in
      switch format {
      case Int32(BQ_FORMAT_F16):
        // Every hundredth one is subnormal.
        let half = Float16(Int.random(in: 0..<100, using: &random) == 0 ? value * 0x1p-18 : value)
        bytes += withUnsafeBytes(of: half.bitPattern, Array.init)
        return Float(half)
      case Int32(BQ_FORMAT_BF16):
        let high = UInt16(truncatingIfNeeded: value.bitPattern >> 16)
        bytes += withUnsafeBytes(of: high, Array.init)
        return Float(bitPattern: UInt32(high) << 16)
      default:
        bytes += withUnsafeBytes(of: value.bitPattern, Array.init)
        return value
      }
    }
    buffer = GuardedBuffer(bytes, canary: 0xFF, offset: 1)
  }

  var base: UnsafeRawPointer { UnsafeRawPointer(buffer.base) }
}

private func multiply(
  _ isa: Int32, _ weights: UnsafeRawPointer, _ format: Int32, bias: [Float], x: [Float], vectors: Int,
  inputs: Int
) throws -> [Float] {
  let table = try #require(Kernels(isa: isa)).table
  let outs = bias.count
  // The strides of vectors and outputs are larger than their lengths.
  let from = GuardedBuffer(
    (0..<vectors).flatMap { x[$0 * inputs..<($0 + 1) * inputs] + [.nan, .nan] }, offset: 1)
  let to = GuardedBuffer([Float](repeating: 7, count: vectors * (outs + 3)), offset: 1)
  let biases = GuardedBuffer(bias, offset: 3)
  table.multiply_rows(
    weights, format, biases.base, from.base, inputs + 2, vectors, inputs, outs, to.base, outs + 3)
  #expect(to.isIntact)
  let result = to.elements
  return (0..<vectors).flatMap { vector -> ArraySlice<Float> in
    let first = vector * (outs + 3)
    #expect(result[first + outs..<first + outs + 3] == [7, 7, 7])
    return result[first..<first + outs]
  }
}

@Test(arguments: instructionSets, formats)
func rowsMatchReference(isa: Int32, format: Int32) throws {
  var random = TestRandom(3)
  let shapes = [
    (1, 1, 1), (1, 16, 8), (1, 33, 13), (2, 7, 4), (6, 64, 5), (7, 100, 9), (13, 31, 66), (5, 384, 3),
  ]
  for (vectors, inputs, outs) in shapes {
    let weights = StoredWeights(inputs * outs, format: format, &random)
    let bias = random.floats(outs)
    let x = random.floats(vectors * inputs, -3...3)
    let found = try multiply(
      isa, weights.base, format, bias: bias, x: x, vectors: vectors, inputs: inputs)
    let expected = ReferenceKernels.multiplyRows(weights: weights.values, bias: bias, x: x, vectors: vectors)
    let bound = Float(inputs + 4) * Float(inputs) * 3 * 0x1p-24 + 1e-6
    for i in expected.indices {
      #expect(abs(found[i] - expected[i]) <= bound, "isa \(isa) \(vectors)×\(inputs)→\(outs) at \(i)")
    }
  }
}

/// The promise that batches and threads do not change results: any vector among others, any part of the rows.
@Test(arguments: instructionSets, formats)
func rowsAreTheSameInAnyCompany(isa: Int32, format: Int32) throws {
  var random = TestRandom(4)
  for inputs in [48, 75] {
    let outs = 29
    let weights = StoredWeights(inputs * outs, format: format, &random)
    let bias = random.floats(outs)
    let vector = random.floats(inputs)
    let alone = try multiply(isa, weights.base, format, bias: bias, x: vector, vectors: 1, inputs: inputs)
    for vectors in 2...15 {
      for at in [0, vectors / 2, vectors - 1] {
        var x = random.floats(vectors * inputs)
        x.replaceSubrange(at * inputs..<(at + 1) * inputs, with: vector)
        let found = try multiply(
          isa, weights.base, format, bias: bias, x: x, vectors: vectors, inputs: inputs)
        #expect(Array(found[at * outs..<(at + 1) * outs]) == alone, "isa \(isa), \(vectors) vectors, \(at)")
      }
    }
    let size = format == Int32(BQ_FORMAT_F32) ? 4 : 2
    for first in 0..<outs {
      let part = try multiply(
        isa, weights.base + first * inputs * size, format, bias: Array(bias[first...]), x: vector, vectors: 1,
        inputs: inputs)
      #expect(part == Array(alone[first...]))
    }
  }
}

/// Runs a cell on `units` units from `from` on, of `all` units.
private func lstm(
  _ isa: Int32, x: [Float], h: [Float], c: [Float], units: Range<Int>
) throws -> (c: [Float], h: [Float]) {
  let table = try #require(Kernels(isa: isa)).table
  let count = c.count
  let (gatesX, gatesH, before) = (GuardedBuffer(x), GuardedBuffer(h), GuardedBuffer(c))
  let zeros = [Float](repeating: 0, count: units.count)
  let (nextC, nextH) = (GuardedBuffer(zeros, offset: 1), GuardedBuffer(zeros, offset: 2))
  let first = units.lowerBound
  table.lstm_cell(
    gatesX.base + first, gatesH.base + first, count, units.count, before.base + first, nextC.base, nextH.base)
  #expect(nextC.isIntact && nextH.isIntact)
  return (nextC.elements, nextH.elements)
}

private func gru(
  _ isa: Int32, x: [Float], h: [Float], state: [Float], units: Range<Int>
) throws -> [Float] {
  let table = try #require(Kernels(isa: isa)).table
  let (gatesX, gatesH, before) = (GuardedBuffer(x), GuardedBuffer(h), GuardedBuffer(state))
  let next = GuardedBuffer([Float](repeating: 0, count: units.count), offset: 1)
  let first = units.lowerBound
  table.gru_cell(
    gatesX.base + first, gatesH.base + first, state.count, units.count, before.base + first, next.base)
  #expect(next.isIntact)
  return next.elements
}

@Test(arguments: instructionSets)
func cellsMatchReference(isa: Int32) throws {
  var random = TestRandom(6)
  for units in [1, 4, 15, 16, 37, 256] {
    // Some gates are far in their saturation.
    let (x, h) = (random.floats(4 * units, -30...30), random.floats(4 * units, -9...9))
    let state = random.floats(units, -3...3)
    let expected = ReferenceKernels.lstmCell(x: x, h: h, c: state)
    let found = try lstm(isa, x: x, h: h, c: state, units: 0..<units)
    let (gruX, gruH) = (Array(x[..<(3 * units)]), Array(h[..<(3 * units)]))
    let next = ReferenceKernels.gruCell(x: gruX, h: gruH, state: state)
    let foundNext = try gru(isa, x: gruX, h: gruH, state: state, units: 0..<units)
    for unit in 0..<units {
      // Gates up to 39 are sums that f32 rounds by 2e-6 each.
      #expect(abs(found.c[unit] - expected.c[unit]) <= 6e-6, "c[\(unit)]")
      #expect(abs(found.h[unit] - expected.h[unit]) <= 6e-6, "h[\(unit)]")
      #expect(abs(foundNext[unit] - next[unit]) <= 6e-6, "GRU's \(unit)")
    }
  }
}

@Test(arguments: instructionSets)
func unitsAreTheSameInAnyPart(isa: Int32) throws {
  var random = TestRandom(8)
  let units = 53
  let (x, h) = (random.floats(4 * units, -4...4), random.floats(4 * units, -4...4))
  let state = random.floats(units)
  let whole = try lstm(isa, x: x, h: h, c: state, units: 0..<units)
  let (gruX, gruH) = (Array(x[..<(3 * units)]), Array(h[..<(3 * units)]))
  let wholeGRU = try gru(isa, x: gruX, h: gruH, state: state, units: 0..<units)
  for part in [0..<1, 3..<20, 16..<32, 50..<53, 7..<53] {
    let found = try lstm(isa, x: x, h: h, c: state, units: part)
    #expect(found.c == Array(whole.c[part]) && found.h == Array(whole.h[part]))
    #expect(try gru(isa, x: gruX, h: gruH, state: state, units: part) == Array(wholeGRU[part]))
  }
}

@Test func theFirstNonFiniteWeightIsFound() {
  var random = TestRandom(2)
  let samples: [(format: Int32, size: Int, bad: [UInt32])] = [
    (Int32(BQ_FORMAT_F32), 4, [0x7F80_0000, 0xFF80_0000, 0x7FC0_0001]),
    (Int32(BQ_FORMAT_F16), 2, [0x7C00, 0xFC00, 0x7E01]),
    (Int32(BQ_FORMAT_BF16), 2, [0x7F80, 0xFF80, 0x7FC1]),
  ]
  for (format, size, bad) in samples {
    for count in [0, 1, 255, 256, 257, 1000] {
      let weights = StoredWeights(count, format: format, &random)
      #expect(bq_first_nonfinite(weights.base, format, count) == count)
      for value in bad where count > 0 {
        let at = Int.random(in: 0..<count, using: &random)
        var bytes = Array(UnsafeRawBufferPointer(start: weights.base, count: count * size))
        for position in Set([at, count - 1]) {
          for byte in 0..<size {
            bytes[position * size + byte] = UInt8(truncatingIfNeeded: value >> UInt32(8 * byte))
          }
        }
        #expect(bytes.withUnsafeBytes { bq_first_nonfinite($0.baseAddress, format, count) } == at)
      }
    }
  }
}

@Test func fingerprintsTellContentsApart() {
  var random = TestRandom(1)
  var seen = Set<UInt64>()
  for size in 0..<200 {
    var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    func fingerprint(_ seed: UInt64 = 0) -> UInt64 {
      bytes.withUnsafeBytes { bq_fingerprint($0.baseAddress, size, seed) }
    }
    let original = fingerprint()
    #expect(fingerprint() == original)
    #expect(seen.insert(original).inserted && seen.insert(fingerprint(1)).inserted)
    for index in bytes.indices {
      bytes[index] ^= 1 << UInt8(index % 8)
      #expect(seen.insert(fingerprint()).inserted)
      bytes[index] ^= 1 << UInt8(index % 8)
    }
  }
  // Serialised states hold these numbers: they may never change.
  let text: StaticString = "libbertqa fingerprints are the same on every machine"
  #expect(bq_fingerprint(text.utf8Start, text.utf8CodeUnitCount, 42) == 2_994_677_820_834_214_810)
}
