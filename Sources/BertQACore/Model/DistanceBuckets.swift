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
