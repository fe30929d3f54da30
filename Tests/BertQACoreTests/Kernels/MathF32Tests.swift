import Glibc
import Testing

@testable import BertQACore

/// Every exponent and sign with evenly spread mantissas, and the special values.
private let samples: [Float] = {
  var bits: [UInt32] = [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000]
  for top in UInt32(0)..<512 where top & 0xFF != 0xFF {
    // Where the functions live, denser.
    let count: UInt32 = (110...140).contains(top & 0xFF) ? 2048 : 64
    for i in 0..<count { bits.append(top << 23 | i * (0x80_0000 / count) | 5) }
  }
  return bits.map { Float(bitPattern: $0) }
}()

private typealias Map = @convention(c) (UnsafePointer<Float>?, Int, UnsafeMutablePointer<Float>?) -> Void

private func apply(_ map: Map?, _ x: [Float]) throws -> [Float] {
  let map = try #require(map)
  let y = GuardedBuffer([Float](repeating: 0, count: x.count), offset: 1)
  map(x, x.count, y.base)
  #expect(y.isIntact)
  return y.elements
}

@Test(arguments: instructionSets)
func expIsWithinTwoUlps(isa: Int32) throws {
  let found = try apply(Kernels(isa: isa)?.table.exp_f32, samples)
  for (x, y) in zip(samples, found) {
    let exact = Glibc.exp(Double(x))
    let rounded = Float(exact)
    if rounded.isInfinite || rounded == 0 {
      #expect(y == rounded || abs(y - rounded) <= .leastNonzeroMagnitude, "exp(\(x)) = \(y)")
    } else {
      let ulp = Double(max(rounded.ulp, .leastNonzeroMagnitude))
      #expect(abs(Double(y) - exact) <= 2 * ulp, "exp(\(x)) = \(y)")
    }
  }
}

@Test(arguments: instructionSets)
func erfAndTanhAreWithinTheirBounds(isa: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  for (map, exact, bound) in [(table.erf_f32, Glibc.erf, 6e-7), (table.tanh_f32, Glibc.tanh, 2e-7)]
    as [(Map?, (Double) -> Double, Double)]
  {
    let found = try apply(map, samples)
    for (x, y) in zip(samples, found) {
      let error = abs(Double(y) - exact(Double(x)))
      #expect(error <= bound * abs(exact(Double(x))) + 0x1p-149, "f(\(x)) = \(y), isa \(isa)")
      #expect(abs(y) <= 1)
    }
  }
}

@Test(arguments: instructionSets)
func geluIsWithinItsBound(isa: Int32) throws {
  let found = try apply(Kernels(isa: isa)?.table.gelu_f32, samples)
  for (x, y) in zip(samples, found) where x.isFinite {
    let error = abs(Double(y) - ReferenceKernels.gelu(Double(x)))
    #expect(error <= 6e-7 * max(abs(Double(x)), 1e-30), "gelu(\(x)) = \(y), isa \(isa)")
    if abs(x) > 5.6 { #expect(y == max(x, 0)) }
  }
}

@Test(arguments: instructionSets)
func notANumberStaysOne(isa: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  for map in [table.exp_f32, table.erf_f32, table.tanh_f32, table.gelu_f32] {
    for count in [1, 5, 16, 33] {
      let found = try apply(map, [Float](repeating: .nan, count: count))
      #expect(found.allSatisfy { $0.isNaN })
    }
  }
}
