import Glibc

/// One softmax over all candidates of a document and the no-answer candidate.
struct SpanSoftmax {
  private let reference: Float
  private let total: Double

  /// `best` is the best candidate's score. O(tokens · maxLength), in an order that depends on the windows
  /// alone.
  init(
    logits: WindowLogits, maxLength: Int, best: Float, _ monitor: CallMonitor
  ) throws(BertQAError) {
    reference = max(best, logits.nullScore)
    var total = exp(Double(logits.nullScore) - Double(reference))
    for index in logits.windows.indices {
      try monitor.check()
      total += Self.sum(ofRowsLastIn: index, logits, maxLength, reference: reference)
    }
    self.total = total
  }

  func probability(of score: Float) -> Float {
    Float(exp(Double(score) - Double(reference)) / total)
  }

  /// The sum of exp(score - reference) over candidates whose start is in window `index`, but not in the
  /// next one. All candidates of such a start are in this window; those which are in earlier ones too
  /// take their best score.
  private static func sum(
    ofRowsLastIn index: Int, _ logits: WindowLogits, _ maxLength: Int, reference: Float
  ) -> Double {
    let window = logits.windows[index]
    let isLast = index + 1 == logits.windows.count
    let rows =
      isLast
      ? window.tokenCount : min(window.endToken, logits.windows[index + 1].firstToken) - window.firstToken
    let earliest = logits.windows(containing: window.firstToken).lowerBound
    return withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * rows) { scratch in
      logits.start.withUnsafeBufferPointer { start in
        logits.end.withUnsafeBufferPointer { end in
          guard let scores = scratch.baseAddress, let start = start.baseAddress,
            let end = end.baseAddress
          else { return 0 }
          let sums = scores + rows
          scratch.initialize(repeating: 0)
          for distance in 0..<min(maxLength, window.tokenCount) {
            let count = min(rows, window.tokenCount - distance)
            scores.update(repeating: -.infinity, count: count)
            for other in earliest...index {
              let shift = logits.offsets[other] + window.firstToken - logits.windows[other].firstToken
              let shared = logits.windows[other].endToken - window.firstToken - distance
              maximize(scores, start + shift, end + shift + distance, count: min(count, shared))
            }
            addExponentials(of: scores, less: reference, to: sums, count: count)
          }
          return UnsafeBufferPointer(start: sums, count: rows).reduce(0) { $0 + Double($1) }
        }
      }
    }
  }
}

/// e^x for x ≤ 0, without branches or calls, so that loops over it become vector code. Relative error
/// below 3e-7 for x ≥ -87; 0 below, where Float has no normal numbers.
@inline(__always)
func exponential(ofNonPositive x: Float) -> Float {
  // x = n · ln 2 + r with |r| ≤ ln 2 / 2. Adding 1.5 · 2²³ rounds to an integer, in the low bits.
  let magic: Float = 12_582_912
  let clamped = x > -87 ? x : -87
  let shifted = clamped * 1.442_695_04 + magic
  let n = shifted - magic
  // ln 2 in two parts: the first has few enough bits for an exact product with n.
  let r = (clamped - n * 0.693_359_375) - n * -2.121_944_4e-4
  // Taylor: the eighth term is below 6e-9.
  var sum = 1 + r * (1 / 7)
  sum = 1 + r * (1 / 6) * sum
  sum = 1 + r * (1 / 5) * sum
  sum = 1 + r * (1 / 4) * sum
  sum = 1 + r * (1 / 3) * sum
  sum = 1 + r * (1 / 2) * sum
  sum = 1 + r * sum
  let power = Float(bitPattern: (shifted.bitPattern &+ 127) &<< 23)
  return x > -87 ? sum * power : 0
}

/// sums[i] += exp(scores[i] - reference), for scores of at most `reference`.
@inline(__always)
private func addExponentials(
  of scores: UnsafePointer<Float>, less reference: Float, to sums: UnsafeMutablePointer<Float>, count: Int
) {
  var i = 0
  while i < count {
    sums[i] += exponential(ofNonPositive: scores[i] - reference)
    i &+= 1
  }
}
