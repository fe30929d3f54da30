import Glibc
import Testing

@testable import BertQACore

/// Every exponent and sign with evenly spread mantissas, and the special values.
private let samples: [Float] = {
  var bits: [UInt32] = [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000]
  for top in UInt32(0)..<512 where top & 0xFF != 0xFF {
    // Denser where the functions change most.
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

/// Expects what holds of every sample and its result. An expectation for each would take most of the tests' time.
private func expectOfEach(
  _ found: [Float], isa: Int32, at location: SourceLocation = #_sourceLocation,
  _ holds: (_ x: Float, _ y: Float) -> Bool
) {
  #expect(found.count == samples.count, sourceLocation: location)
  let wrong = zip(samples, found).first { !holds($0, $1) }
  #expect(wrong == nil, "isa \(isa), x and f(x)", sourceLocation: location)
}

@Test(arguments: instructionSets)
func expIsWithinTwoUlps(isa: Int32) throws {
  expectOfEach(try apply(Kernels(isa: isa)?.table.exp_f32, samples), isa: isa) { x, y in
    let exact = Glibc.exp(Double(x))
    let rounded = Float(exact)
    if rounded.isInfinite || rounded == 0 {
      return y == rounded || abs(y - rounded) <= .leastNonzeroMagnitude
    }
    return abs(Double(y) - exact) <= 2 * Double(max(rounded.ulp, .leastNonzeroMagnitude))
  }
}

@Test(arguments: instructionSets)
func tanhIsWithinItsBound(isa: Int32) throws {
  expectOfEach(try apply(Kernels(isa: isa)?.table.tanh_f32, samples), isa: isa) { x, y in
    let exact = Glibc.tanh(Double(x))
    return abs(Double(y) - exact) <= 2e-7 * abs(exact) + 0x1p-149 && abs(y) <= 1
  }
}

/// An activation as linear layers apply it. With one input and weights of 0, each output is that of its bias.
private func activate(_ isa: Int32, _ x: [Float], _ epilogue: Int32) throws -> [Float] {
  let table = try #require(Kernels(isa: isa)).table
  let zeros = [Float](repeating: 0, count: max(x.count, 16))
  let y = GuardedBuffer([Float](repeating: 7, count: x.count * 16))
  table.linear_f32(zeros, x, zeros, 1, 1, x.count, epilogue, y.base, x.count * 16)
  #expect(y.isIntact)
  // Each lane is the one before it.
  let unlike = x.indices.first { memcmp(y.base + $0 * 16, y.base + $0 * 16 + 1, 15 * 4) != 0 }
  #expect(unlike == nil, "a lane of f(\(x[unlike ?? 0]))")
  return x.indices.map { y.base[$0 * 16] }
}

@Test(arguments: instructionSets)
func geluIsWithinItsBound(isa: Int32) throws {
  expectOfEach(try activate(isa, samples, Kernels.Epilogue.gelu), isa: isa) { x, y in
    let error = abs(Double(y) - ReferenceKernels.gelu(Double(x)))
    return !x.isFinite || error <= 6e-7 * max(abs(Double(x)), 1e-30) && (abs(x) <= 5.6 || y == max(x, 0))
  }
}

@Test(arguments: instructionSets)
func geluTanhIsWithinItsBound(isa: Int32) throws {
  expectOfEach(try activate(isa, samples, Kernels.Epilogue.geluTanh), isa: isa) { x, y in
    let error = abs(Double(y) - ReferenceKernels.geluTanh(Double(x)))
    return !x.isFinite || error <= 4e-7 * max(abs(Double(x)), 1e-30)
  }
}

@Test(arguments: instructionSets)
func siluReluAndTanhAreWithinTheirBounds(isa: Int32) throws {
  let bounds: [(epilogue: Int32, relative: Double, absolute: Double)] = [
    (Kernels.Epilogue.silu, 5e-7, 1e-36), (Kernels.Epilogue.relu, 0, 0),
    (Kernels.Epilogue.tanh, 2e-7, 0x1p-149),
  ]
  for bound in bounds {
    let exactly = try #require(ReferenceKernels.activations[bound.epilogue])
    expectOfEach(try activate(isa, samples, bound.epilogue), isa: isa) { x, y in
      let exact = exactly(Double(x))
      return !x.isFinite || abs(Double(y) - exact) <= bound.relative * abs(exact) + bound.absolute
    }
  }
}

@Test(arguments: instructionSets)
func notANumberStaysOne(isa: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  for count in [1, 5, 16, 33] {
    let x = [Float](repeating: .nan, count: count)
    #expect(try apply(table.exp_f32, x).allSatisfy { $0.isNaN })
    #expect(try apply(table.tanh_f32, x).allSatisfy { $0.isNaN })
    for epilogue in ReferenceKernels.activations.keys {
      #expect(try activate(isa, x, epilogue).allSatisfy { $0.isNaN })
    }
  }
}
