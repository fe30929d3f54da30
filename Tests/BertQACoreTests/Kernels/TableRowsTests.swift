import CBertQA
import Testing

@testable import BertQACore

private let formats = [BQ_FORMAT_F32, BQ_FORMAT_F16, BQ_FORMAT_BF16, BQ_FORMAT_S8].map { Int32($0) }

/// The bytes of a number in a format, and its value there.
private func stored(_ value: Float, _ format: Int32) -> (bytes: [UInt8], value: Float) {
  switch format {
  case Int32(BQ_FORMAT_F16):
    let half = Float16(value)
    return (withUnsafeBytes(of: half.bitPattern, Array.init), Float(half))
  case Int32(BQ_FORMAT_BF16):
    let high = UInt16(truncatingIfNeeded: value.bitPattern >> 16)
    return (withUnsafeBytes(of: high, Array.init), Float(bitPattern: UInt32(high) << 16))
  case Int32(BQ_FORMAT_S8):
    let byte = Int8(value * 127)
    return ([UInt8(bitPattern: byte)], Float(byte))
  default: return (withUnsafeBytes(of: value.bitPattern, Array.init), value)
  }
}

@Test(arguments: instructionSets, formats)
func sumsOfRowsMatchReference(isa: Int32, format: Int32) throws {
  let table = try #require(Kernels(isa: isa)).table
  var random = TestRandom(5)
  for width in [1, 3, 4, 8, 15, 16, 31, 64, 100, 128, 259] {
    for count in [0, 1, 2, 7, 64] {
      let numbers = random.floats(9 * width).map { stored($0, format) }
      // At an odd address, and the last row ends where memory may be protected.
      let weights = GuardedBuffer(numbers.flatMap(\.bytes), canary: 0xFF, offset: 1)
      let rows = (0..<count).map { _ in Int32.random(in: 0..<9, using: &random) }
      let factors = random.floats(count)
      let sums = GuardedBuffer([Float](repeating: 7, count: width), offset: 1)
      table.sum_rows(
        weights.base, format, rows, factors, count, width, sums.base)
      #expect(sums.isIntact && weights.isIntact)
      for (feature, found) in sums.elements.enumerated() {
        var expected = 0.0
        for (row, factor) in zip(rows, factors) {
          expected += Double(numbers[Int(row) * width + feature].value) * Double(factor)
        }
        let size: Double = format == Int32(BQ_FORMAT_S8) ? 127 : 1
        #expect(abs(Double(found) - expected) <= 1e-5 * size, "isa \(isa), width \(width), \(count) rows")
      }
    }
  }
}
