import CBertQA

/// Vectors as a collection stores them: rows of int8 with one scale each; element = scale · q.
package enum VectorRows {
  /// Rounds vectors of `length` numbers each.
  /// - Parameters:
  ///   - vectors: [count][length], finite.
  ///   - rows: [count][length]
  ///   - scales: [count]
  package static func quantize(
    _ vectors: UnsafeBufferPointer<Float>, length: Int, rows: UnsafeMutablePointer<Int8>,
    scales: UnsafeMutablePointer<Float>
  ) throws(BertQAError) {
    try check(length: length)
    var quantizer = RowQuantizer()
    for index in 0..<vectors.count / length {
      let vector = UnsafeBufferPointer(rebasing: vectors[index * length..<(index + 1) * length])
      guard let row = quantizer.quantize(vector, to: rows + index * length) else {
        throw BertQAError(
          .invalidArgument, argument: "vectors", "have a number that is not finite, at \(index)")
      }
      scales[index] = row.scale
    }
  }

  /// The kernels read four numbers at a time.
  static func check(length: Int) throws(BertQAError) {
    if length > 0, length % 4 == 0 { return }
    throw BertQAError(
      .unsupported, argument: "length", "is \(length), but vectors to search have a multiple of 4 numbers")
  }
}

/// A question's vector, which is compared with rows by the int8 kernels of the encoder.
struct QuestionVector {
  let length: Int
  private let kernels: Kernels
  /// As `linear_s8` takes one block: the vector is in lane 0 [length/4][16][4], the others are 0.
  private let packed: SharedBuffer<UInt8>
  /// The lanes' scales, then their offsets: [2][16].
  private let ranges: SharedBuffer<Float>

  /// The rows that one thread compares at a time. Their products take 16 KiB.
  private static let part = 256

  init(_ vector: UnsafeBufferPointer<Float>, kernels: Kernels) throws(BertQAError) {
    try VectorRows.check(length: vector.count)
    length = vector.count
    self.kernels = kernels
    let lanes = Kernels.lanes
    let floats = try SharedBuffer<Float>(count: length * lanes)
    floats.base.update(repeating: 0, count: length * lanes)
    for (index, value) in vector.enumerated() { floats.base[index * lanes] = value }
    packed = try SharedBuffer(count: length * lanes)
    ranges = try SharedBuffer(count: 2 * lanes)
    kernels.table.quantize_u8(floats.base, 1, length, packed.base, ranges.base, ranges.base + lanes)
  }

  /// Writes the products of the question's vector and `count` rows.
  /// - Parameters:
  ///   - rows: [count][length]
  ///   - scales: [count]
  ///   - products: [count]
  func compare(
    rows: UnsafePointer<Int8>, scales: UnsafePointer<Float>, count: Int,
    products: UnsafeMutablePointer<Float>, threads: Int
  ) throws(BertQAError) {
    let parts = (count + Self.part - 1) / Self.part
    guard parts > 0 else { return }
    let threads = max(1, min(threads, parts))
    let width = Self.part * (Kernels.lanes + 2)
    // Products by lane, sums and biases, for each thread.
    let scratch = try SharedBuffer<Float>(count: threads * width)
    var job = Job(
      vector: self, rows: rows, scales: scales, count: count, products: products, scratch: scratch.base,
      width: width)
    let team = ThreadPool.Team(maxThreads: threads)
    withUnsafeMutablePointer(to: &job) { job in
      team.run(count: parts, context: UnsafeMutableRawPointer(job)) { context, part, seat in
        context.assumingMemoryBound(to: Job.self).pointee.compare(part: part, seat: seat)
      }
    }
    withExtendedLifetime(scratch) {}
  }

  private struct Job {
    let vector: QuestionVector
    let rows: UnsafePointer<Int8>
    let scales: UnsafePointer<Float>
    let count: Int
    let products: UnsafeMutablePointer<Float>
    let scratch: UnsafeMutablePointer<Float>
    let width: Int

    func compare(part: Int, seat: Int) {
      let (size, lanes) = (QuestionVector.part, Kernels.lanes)
      let first = part * size
      let count = min(size, count - first)
      let byLane = scratch + seat * width
      let (sums, biases) = (byLane + size * lanes, byLane + size * (lanes + 1))
      let rows = rows + first * vector.length
      let scales = scales + first
      bq_row_sums_s8(rows, scales, count, vector.length, sums)
      biases.update(repeating: 0, count: count)
      var weights = bq_weights_s8(w: rows, scale: scales, sums: sums, bias: biases, large: nil)
      vector.kernels.table.linear_s8(
        &weights, vector.packed.base, vector.ranges.base, vector.ranges.base + lanes, 1, vector.length, count,
        Kernels.Epilogue.bias, byLane, count * lanes)
      for index in 0..<count { products[first + index] = byLane[index * lanes] }
    }
  }
}
