import Glibc

/// Turns scores into probabilities: softmax, in place, without overflow.
/// - Returns: ln Σ exp(score).
@discardableResult
@inline(__always)
func softmax(_ scores: UnsafeMutablePointer<Double>, count: Int) -> Double {
  var most = scores[0]
  for index in 1..<count { most = max(most, scores[index]) }
  var sum = 0.0
  for index in 0..<count {
    scores[index] = exp(scores[index] - most)
    sum += scores[index]
  }
  for index in 0..<count { scores[index] /= sum }
  return most + log(sum)
}
