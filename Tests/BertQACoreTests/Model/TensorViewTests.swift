import Testing

@testable import BertQACore

private func floats(
  _ bytes: [UInt8], _ type: DataType, shape: [Int], rows: Range<Int>, scales: [Float]? = nil,
  misalignment: Int = 0
) -> [Float] {
  let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: bytes.count + misalignment, alignment: 16)
  defer { memory.deallocate() }
  UnsafeMutableRawBufferPointer(rebasing: memory[misalignment...]).copyBytes(from: bytes)
  return (scales ?? []).withUnsafeBufferPointer { scales in
    let view = TensorView(
      name: "t", file: "f", dataType: type, shape: shape,
      bytes: UnsafeRawBufferPointer(rebasing: memory[misalignment...]),
      rowScales: type == .i8 ? scales : nil)
    return Array(unsafeUninitializedCapacity: rows.count * view.rowWidth) { buffer, count in
      count = rows.count * view.rowWidth
      if let base = buffer.baseAddress { view.copyFloats(rows: rows, to: base) }
    }
  }
}

private func bytes<T>(_ elements: [T]) -> [UInt8] { elements.withUnsafeBytes(Array.init) }

struct TensorViewTests {
  @Test(arguments: [0, 1]) func halvesAreExact(misalignment: Int) {
    let patterns = (0...UInt16.max).map { $0 }
    let result = floats(
      bytes(patterns), .f16, shape: [1 << 16], rows: 0..<1 << 16, misalignment: misalignment)
    for (pattern, float) in pairs(patterns, result) {
      let half = Float16(bitPattern: pattern)
      if half.isNaN {
        #expect(float.isNaN)
      } else {
        #expect(float.bitPattern == Float(half).bitPattern)
      }
    }
  }

  @Test(arguments: [0, 1]) func bfloat16sAreExact(misalignment: Int) {
    let patterns = (0...UInt16.max).map { $0 }
    let result = floats(
      bytes(patterns), .bf16, shape: [1 << 8, 1 << 8], rows: 0..<1 << 8,
      misalignment: misalignment)
    #expect(result.map(\.bitPattern) == patterns.map { UInt32($0) << 16 })
  }

  @Test(arguments: [0, 1, 2, 3]) func rowsOfFloats(misalignment: Int) {
    let values: [Float] = [1, 2, 3, .nan, -.infinity, 6, -0.0, 8]
    let result = floats(
      bytes(values), .f32, shape: [4, 2], rows: 1..<4, misalignment: misalignment)
    #expect(result.map(\.bitPattern) == values[2...].map(\.bitPattern))
  }

  @Test func int8RowsAreScaled() {
    let elements: [Int8] = [1, -127, 0, 127, 3, -128]
    let scales: [Float] = [0.5, 3, 0.1]
    let all = floats(bytes(elements), .i8, shape: [3, 2], rows: 0..<3, scales: scales)
    let expected: [Float] = [0.5, -63.5, 0, 381, 3 * 0.1, -128 * 0.1]
    #expect(all == expected)
    let last = floats(bytes(elements), .i8, shape: [3, 2], rows: 2..<3, scales: scales)
    #expect(last == Array(expected[4...]))
  }

  @Test func vectorsHaveRowsOfOneElement() {
    let values: [Float] = [1, 2, 3]
    #expect(floats(bytes(values), .f32, shape: [3], rows: 1..<3) == [2, 3])
    #expect(floats(bytes(values), .f32, shape: [3], rows: 2..<2) == [])
  }
}
