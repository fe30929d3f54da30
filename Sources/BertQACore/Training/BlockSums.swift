/// Returns the inner products of `vector` with three others, over `count` numbers. The order of the sums is
/// fixed.
@inline(__always)
func innerProducts(
  _ vector: UnsafePointer<Double>,
  with others: (UnsafePointer<Double>, UnsafePointer<Double>, UnsafePointer<Double>), count: Int
) -> (Double, Double, Double) {
  var sums = (SIMD4<Double>(), SIMD4<Double>(), SIMD4<Double>())
  var index = 0
  while index &+ 4 <= count {
    let block = load(vector + index)
    sums.0 += block * load(others.0 + index)
    sums.1 += block * load(others.1 + index)
    sums.2 += block * load(others.2 + index)
    index &+= 4
  }
  var result = (sums.0.sum(), sums.1.sum(), sums.2.sum())
  while index < count {
    result.0 += vector[index] * others.0[index]
    result.1 += vector[index] * others.1[index]
    result.2 += vector[index] * others.2[index]
    index &+= 1
  }
  return result
}

/// target += factor · vector
@inline(__always)
func add(
  _ vector: UnsafePointer<Double>, times factor: Double, to target: UnsafeMutablePointer<Double>, count: Int
) {
  for index in 0..<count { target[index] += factor * vector[index] }
}

@inline(__always)
private func load(_ memory: UnsafePointer<Double>) -> SIMD4<Double> {
  UnsafeRawPointer(memory).loadUnaligned(as: SIMD4<Double>.self)
}
