/// The mean of a text's windows' vectors, as they come.
struct WeightedMean {
  private var sums: [Double]
  private var weight = 0

  init(count: Int) {
    sums = [Double](repeating: 0, count: count)
  }

  /// - Parameters:
  ///   - vector: as many numbers as there are sums.
  ///   - weight: 1 or more.
  mutating func add(_ vector: UnsafePointer<Float>, weight added: Int) {
    for index in sums.indices { sums[index] += Double(vector[index]) * Double(added) }
    weight += added
  }

  /// Writes the mean; what follows is another text's. That of one vector is the vector itself: its
  /// products and quotients are exact in double precision.
  mutating func take(into mean: UnsafeMutableBufferPointer<Float>) {
    for index in sums.indices {
      mean[index] = Float(sums[index] / Double(weight))
      sums[index] = 0
    }
    weight = 0
  }
}
