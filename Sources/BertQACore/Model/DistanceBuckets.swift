import Glibc

/// The buckets that distances between tokens fall into: one each for small ones, and ever wider ones for others.
/// In single precision, as the reference implementations compute them: where a bucket begins depends on rounding.
enum DistanceBuckets {
  /// Of `bias`, in both directions.
  static let biasCount = 32

  /// The row of a table of biases; transformers' `MPNetEncoder.relative_position_bucket`, which is T5's (Raffel et
  /// al. 2019, https://arxiv.org/abs/1910.10683).
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

  /// The row of a table of vectors for distances; transformers' `make_log_bucket_position`, from 0 on.
  /// - Parameter distance: query - key.
  static func row(_ distance: Int, _ attention: DisentangledAttention) -> Int {
    var bucket = distance
    if let count = attention.bucketCount {
      let middle = count / 2
      if abs(distance) > middle {
        let ratio =
          logf(Float(abs(distance)) / Float(middle))
          / logf(Float(Double(attention.maxDistance - 1) / Double(middle)))
        // Far beyond the greatest distance the last bucket is passed, and the row limited below.
        let steps = min(Float(count), (ratio * Float(middle - 1)).rounded(.up))
        bucket = (Int(steps) + middle) * distance.signum()
      }
    }
    return max(0, min(attention.rowCount - 1, bucket + attention.span))
  }
}
