import Glibc

/// One softmax over all spans of a question's documents, and the no-answer candidate if it takes part.
struct SpanSoftmax {
  private let reference: Float
  /// The factor of scores: 1 / temperature.
  private let scale: Double
  private let total: Double

  /// Takes O(tokens · maxLength), in an order that depends only on the windows.
  /// - Parameters:
  ///   - documents: by document.
  ///   - best: the best span's score.
  ///   - null: the score of the no-answer candidate.
  init(
    _ documents: [WindowLogits], maxLength: Int, best: Float, null: Float? = nil, temperature: Double = 1,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    reference = max(best, null ?? -.infinity)
    scale = 1 / temperature
    var total = null.map { [reference, scale] in exp((Double($0) - Double(reference)) * scale) } ?? 0
    for logits in documents {
      // Without spans, no share is needed.
      for index in logits.windows.indices where reference > -.infinity {
        try monitor.check()
        total += Self.sum(ofRowsLastIn: index, logits, maxLength, reference: reference, scale: Float(scale))
      }
    }
    self.total = total
  }

  func share(of score: Float) -> Double { exp((Double(score) - Double(reference)) * scale) / total }

  /// Returns the sum of exp((score - reference) · scale) over candidates whose start is in window `index`, but not in
  /// the next one. All candidates of such a start are in this window; those that are in earlier ones too take their
  /// best score.
  private static func sum(
    ofRowsLastIn index: Int, _ logits: WindowLogits, _ maxLength: Int, reference: Float, scale: Float
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
            addExponentials(of: scores, less: reference, scale, to: sums, count: count)
          }
          return UnsafeBufferPointer(start: sums, count: rows).reduce(0) { $0 + Double($1) }
        }
      }
    }
  }
}

/// sums[i] += exp((scores[i] - reference) · scale), for scores of at most `reference`.
@inline(__always)
private func addExponentials(
  of scores: UnsafePointer<Float>, less reference: Float, _ scale: Float,
  to sums: UnsafeMutablePointer<Float>,
  count: Int
) {
  var i = 0
  while i < count {
    sums[i] += exponential(ofNonPositive: (scores[i] - reference) * scale)
    i &+= 1
  }
}
