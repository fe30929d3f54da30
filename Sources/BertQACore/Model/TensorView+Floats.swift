import Glibc

extension TensorView {
  /// Writes the elements of some rows as `rows.count * rowWidth` floats. Exact for every type; for `i8` the
  /// value is q · scale, rounded once. The caller must not pass rows beyond the last.
  func copyFloats(rows: Range<Int>, to output: UnsafeMutablePointer<Float>) {
    precondition(rows.lowerBound >= 0 && rows.upperBound <= rowCount)
    let first = rows.lowerBound * rowWidth
    let count = rows.count * rowWidth
    guard count > 0, let base = bytes.baseAddress else { return }
    let source = base + first * dataType.size
    switch dataType {
    case .f32:
      memcpy(output, source, count * MemoryLayout<Float>.size)
    case .f16:
      for index in 0..<count {
        let half = source.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
        output[index] = Self.float(half: half)
      }
    case .bf16:
      for index in 0..<count {
        let high = source.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
        output[index] = Float(bitPattern: UInt32(truncatingIfNeeded: high) &<< 16)
      }
    case .i8:
      guard let rowScales else { return }
      let elements = source.assumingMemoryBound(to: Int8.self)
      for (offset, row) in rows.enumerated() {
        let scale = rowScales[row]
        let start = offset * rowWidth
        for index in start..<start &+ rowWidth { output[index] = Float(elements[index]) * scale }
      }
    }
  }

  /// Throws if one of the tensor's elements is not finite.
  func checkFinite(_ values: some Sequence<Float>) throws(BertQAError) {
    for value in values where !value.isFinite {
      throw BertQAError(
        .invalidModel, "\(file): tensor \(quoted(name)) has \(value), expected finite numbers")
    }
  }

  /// The exact value of an IEEE half-precision number. A NaN keeps its payload.
  ///
  /// It uses integer operations and selects, so loops over it are vectorised on every CPU, and it does not
  /// depend on the host's denormal mode.
  @inline(__always)
  static func float(half: UInt16) -> Float {
    let bits = UInt32(truncatingIfNeeded: half)
    let exponent = bits & 0x7C00
    // Exponent bias 15 to 127. Infinities and NaNs get the top exponent.
    let rebias: UInt32 = exponent == 0x7C00 ? 224 << 23 : 112 << 23
    let normal = (bits & 0x7FFF) &<< 13 &+ rebias
    let subnormal = (Float(Int32(truncatingIfNeeded: bits & 0x3FF)) * 0x1p-24).bitPattern
    let magnitude = exponent == 0 ? subnormal : normal
    return Float(bitPattern: magnitude | (bits & 0x8000) &<< 16)
  }
}
