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

/// Returns e^x for x ≤ 0, without branches or calls, so that loops over it are vectorised. The relative error
/// is below 3e-7 for x ≥ -87. Below that, where Float has no normal numbers, returns 0.
@inline(__always)
func exponential(ofNonPositive x: Float) -> Float {
  // x = n · ln 2 + r with |r| ≤ ln 2 / 2. Adding 1.5 · 2²³ rounds to an integer, in the low bits.
  let magic: Float = 12_582_912
  let clamped = x > -87 ? x : -87
  let shifted = clamped * 1.442_695_04 + magic
  let n = shifted - magic
  // ln 2 in two parts. The first has few enough bits for an exact product with n.
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
