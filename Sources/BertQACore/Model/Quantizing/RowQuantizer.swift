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
    withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * Self.lanes) { memory in
      guard let lanes = memory.baseAddress else { return }
      let norm = Self.fit(row, largest: largest, lanes)
      for cut in Self.clippings {
        let (products, squares) = (lanes[Self.lanes + cut], lanes[2 * Self.lanes + cut])
        let step = products / squares
        let (scale, error) = (largest * step, norm - step * products)
        if error < best.error, scale.isNormal { best = (scale, error) }
      }
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

  /// One for each of `clippings`, whose sums do not depend on one another, and some to make vectors whole.
  private static let lanes = 24

  /// Rounds row / largest to multiples of clipping / 127, and adds up what fits the multiple by least squares.
  /// - Parameter memory: [3][lanes]: scratch, Σ relative · multiple, Σ multiple².
  /// - Returns: Σ relative².
  private static func fit(
    _ row: UnsafeBufferPointer<Float>, largest: Float, _ memory: UnsafeMutablePointer<Float>
  ) -> Float {
    let (factors, products, squares) = (memory, memory + lanes, memory + 2 * lanes)
    memory.initialize(repeating: 0, count: 3 * lanes)
    for cut in clippings { factors[cut] = 127 / (1 - 0.005 * Float(cut)) / largest }
    let inverse = 1 / largest
    var norm: Float = 0
    for value in row {
      let relative = value * inverse
      for lane in 0..<lanes {
        let multiple = nearestInteger(value * factors[lane])
        products[lane] += relative * multiple
        squares[lane] += multiple * multiple
      }
      norm += relative * relative
    }
    return norm
  }

  private static func round(
    _ row: UnsafeBufferPointer<Float>, scale: Float, to output: UnsafeMutablePointer<Int8>
  ) -> (sum: Int32, squaredError: Double) {
    var sum: Int32 = 0
    var error = 0.0
    for (index, value) in row.enumerated() {
      let rounded = nearestInteger(value / scale)
      // The low bits of an integer plus 1.5 · 2²³ are the integer's: without the checks of a conversion.
      let integer = Int8(truncatingIfNeeded: Int32(bitPattern: (rounded + 0x1.8p23).bitPattern))
      output[index] = integer
      sum &+= Int32(integer)
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
