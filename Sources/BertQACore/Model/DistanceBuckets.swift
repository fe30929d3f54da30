import Glibc

/// The buckets of distances between tokens: one for each small distance, and ever wider ones for larger
/// distances. Computed in single precision, as in the reference implementations, because rounding determines
/// where a bucket starts.
enum DistanceBuckets {
  /// The number of buckets of `bias` in both directions.
  static let biasCount = 32

  /// Returns the row of a table of biases, as transformers' `MPNetEncoder.relative_position_bucket` does; the
  /// method is that of T5 (Raffel et al. 2019, https://arxiv.org/abs/1910.10683).
  /// - Parameter distance: query - key.
  static func bias(_ distance: Int) -> Int {
    let count = biasCount / 2
    let exact = count / 2
    let first = distance < 0 ? count : 0
    let size = abs(distance)
    guard size >= exact else { return first + size }
    let ratio = logf(Float(size) / Float(exact)) / Float(log(128.0 / Double(exact)))
    return first + min(count - 1, exact + Int(ratio * Float(count - exact)))
  }

  /// Returns the slopes of ALiBi's heads: powers of 2^(-8/n) for n heads. If n is not a power of two, those of the
  /// next lower power, then every other one of twice as many heads.
  static func slopes(heads: Int) -> [Float] {
    var power = 1
    while 2 * power <= heads { power *= 2 }
    func slopes(_ count: Int) -> [Double] { (1...count).map { pow(2, -8 * Double($0) / Double(count)) } }
    let more = slopes(2 * power).enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    return (slopes(power) + more.prefix(heads - power)).map { Float($0) }
  }

  /// Returns the row of a table of distance vectors, starting at 0, as transformers'
  /// `make_log_bucket_position` does.
  /// - Parameter distance: query - key.
  static func row(_ distance: Int, _ attention: DisentangledAttention) -> Int {
    var bucket = distance
    if let count = attention.bucketCount {
      let middle = count / 2
      if abs(distance) > middle {
        let ratio =
          logf(Float(abs(distance)) / Float(middle))
          / logf(Float(Double(attention.maxDistance - 1) / Double(middle)))
        // Far beyond the greatest distance this exceeds the last bucket; the row is limited below.
        let steps = min(Float(count), (ratio * Float(middle - 1)).rounded(.up))
        bucket = (Int(steps) + middle) * distance.signum()
      }
    }
    return max(0, min(attention.rowCount - 1, bucket + attention.span))
  }
}
