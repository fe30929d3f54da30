/// Rounds rows of weights to int8 with one scale per row.
struct RowQuantizer {
  /// Σ (x − q · scale)² over all rows with the scales chosen.
  private(set) var squaredError = 0.0
  /// The same if each row's scale came from its largest magnitude.
  private(set) var squaredErrorOfLargest = 0.0
  /// Σ x².
  private(set) var squaredNorm = 0.0

  struct Row {
    let scale: Float
    /// Σ q.
    let sum: Int32
  }

  /// The part of the range up to the largest magnitude that is cut off, in half percents. At 127 steps more
  /// clipping never pays. Among nearby grids, the one that suits the row is about 1 % better.
  private static let clippings = 0...20

  /// Quantizes one row to q in −127…127, with the scale of least squared error among those tried. Returns nil
  /// if the row has an infinity or NaN. O(21 · row).
  mutating func quantize(
    _ row: UnsafeBufferPointer<Float>, to output: UnsafeMutablePointer<Int8>
  ) -> Row? {
    var largest: Float = 0
    var bits: UInt32 = 0
    for value in row {
      largest = max(largest, value.magnitude)
      bits = max(bits, value.magnitude.bitPattern)
    }
    guard bits < Float.infinity.bitPattern else { return nil }
    // Below this the scale would be subnormal, and a host may have set the CPU to treat such numbers as zero.
    guard largest / 127 >= .leastNormalMagnitude else {
      output.update(repeating: 0, count: row.count)
      return Row(scale: 0, sum: 0)
    }
    var best = (scale: largest / 127, error: Float.infinity)
    for cut in Self.clippings {
      let clipping = 1 - 0.005 * Float(cut)
      let fit = Self.fit(row, largest: largest, steps: 127 / clipping)
      let scale = largest * fit.step
      if fit.error < best.error, scale.isNormal { best = (scale, fit.error) }
    }
    let baseline = Self.round(row, scale: largest / 127, to: output)
    var rounded = Self.round(row, scale: best.scale, to: output)
    // The search uses single precision, so its best scale can be slightly worse than the first.
    if rounded.squaredError > baseline.squaredError {
      best.scale = largest / 127
      rounded = Self.round(row, scale: best.scale, to: output)
    }
    squaredErrorOfLargest += baseline.squaredError
    squaredError += rounded.squaredError
    for value in row { squaredNorm += Double(value) * Double(value) }
    return Row(scale: best.scale, sum: rounded.sum)
  }

  /// Rounds row / largest to multiples of 1 / steps, then fits the step to the multiples by least squares.
  /// The error is relative to largest².
  private static func fit(
    _ row: UnsafeBufferPointer<Float>, largest: Float, steps: Float
  ) -> (step: Float, error: Float) {
    let factor = steps / largest
    let inverse = 1 / largest
    var (products, squares, norm): (Float, Float, Float) = (0, 0, 0)
    for value in row {
      let multiple = nearestInteger(value * factor)
      let relative = value * inverse
      products += relative * multiple
      squares += multiple * multiple
      norm += relative * relative
    }
    let step = products / squares
    return (step, norm - step * products)
  }

  private static func round(
    _ row: UnsafeBufferPointer<Float>, scale: Float, to output: UnsafeMutablePointer<Int8>
  ) -> (sum: Int32, squaredError: Double) {
    var sum: Int32 = 0
    var error = 0.0
    for (index, value) in row.enumerated() {
      let rounded = nearestInteger(value / scale)
      output[index] = Int8(rounded)
      sum &+= Int32(rounded)
      let difference = Double(value) - Double(rounded) * Double(scale)
      error += difference * difference
    }
    return (sum, error)
  }

  /// Returns the nearest integer, ties to even, within −127…127.
  @inline(__always)
  private static func nearestInteger(_ value: Float) -> Float {
    // Adding 1.5 · 2²³ leaves no bits after the binary point. Unlike rounded(), it is vectorised on the
    // oldest CPUs.
    let clamped = min(max(value, -127), 127)
    return (clamped + 0x1.8p23) - 0x1.8p23
  }
}
