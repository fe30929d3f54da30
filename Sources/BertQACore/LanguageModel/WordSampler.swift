/// Chooses words by their logits. Its arithmetic is plain additions, products and comparisons in one order:
/// the same logits, options and seed lead to the same words on every machine.
///
/// As in Hugging Face's `generate`, the logits are divided by the temperature. Then the k most probable words
/// are kept and, of these, the fewest whose probabilities (normalised to sum to 1) reach top_p (nucleus
/// sampling: Holtzman et al. 2020). Each draw takes one number of SplitMix64.
struct WordSampler {
  private let options: GenerateOptions
  private var random: SplitMix64

  init(_ options: GenerateOptions) {
    self.options = options
    random = SplitMix64(seed: options.seed)
  }

  /// Returns a word's id; never one with logit -∞, unless all have it.
  /// - Parameter weights: [logits.count], scratch.
  mutating func draw(
    _ logits: UnsafeBufferPointer<Float>, weights: UnsafeMutablePointer<Float>
  ) -> Int32 {
    let best = TopWords.best(of: logits)
    guard options.temperature > 0 else { return best }
    let highest = logits[Int(best)]
    for (id, logit) in logits.enumerated() {
      weights[id] = exponential(ofNonPositive: (logit - highest) / options.temperature)
    }
    let unit = random.nextUnit()
    let all = UnsafeBufferPointer(start: weights, count: logits.count)
    if options.topK == 0, options.topP == 1 {
      return Self.pick(unit, Int32(0)..<Int32(all.count), all) ?? best
    }
    return Self.pick(unit, candidates(logits, all), all) ?? best
  }

  /// Returns the words to draw from, most probable first.
  private func candidates(
    _ logits: UnsafeBufferPointer<Float>, _ weights: UnsafeBufferPointer<Float>
  ) -> ArraySlice<Int32> {
    let limit = options.topK > 0 ? min(options.topK, logits.count) : logits.count
    let top = options.topK > 0 ? TopWords.ids(of: logits, count: limit) : []
    guard options.topP < 1 else { return top[...] }
    let total = options.topK > 0 ? Self.sum(top, weights) : Self.sum(0..<Int32(logits.count), weights)
    // The nucleus is usually small, so words are sorted only as needed.
    var count = min(limit, 64)
    while true {
      let sorted = options.topK > 0 ? top : TopWords.ids(of: logits, count: count)
      var sum = 0.0
      for (index, id) in sorted.enumerated() {
        sum += Double(weights[Int(id)])
        if sum >= Double(options.topP) * total { return sorted[...index] }
      }
      guard sorted.count < limit else { return sorted[...] }
      count = min(limit, 8 * count)
    }
  }

  private static func sum(_ ids: some Sequence<Int32>, _ weights: UnsafeBufferPointer<Float>) -> Double {
    ids.reduce(0) { $0 + Double(weights[Int($1)]) }
  }

  /// Returns the word whose share of the sum of weights contains the point `unit`.
  private static func pick(
    _ unit: Double, _ ids: some Sequence<Int32>, _ weights: UnsafeBufferPointer<Float>
  ) -> Int32? {
    var left = unit * sum(ids, weights)
    var last: Int32?
    for id in ids where weights[Int(id)] > 0 {
      last = id
      left -= Double(weights[Int(id)])
      if left < 0 { return id }
    }
    return last
  }
}
