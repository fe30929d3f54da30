/// The logits of one text, made from those of its windows as they come.
struct PooledLogits {
  private let pooling: ClassifyOptions.WindowPooling
  private(set) var windowCount = 0
  /// The sum or the largest so far, per label.
  private var values: [Double]

  init(_ pooling: ClassifyOptions.WindowPooling, count: Int) {
    self.pooling = pooling
    values = [Double](repeating: 0, count: count)
  }

  mutating func add(_ logits: ArraySlice<Float>) {
    for (label, logit) in logits.enumerated() {
      switch pooling {
      case .mean: values[label] += Double(logit)
      case .max: values[label] = windowCount == 0 ? Double(logit) : max(values[label], Double(logit))
      }
    }
    windowCount += 1
  }

  /// The text's logits; what follows is another text's.
  mutating func take() -> [Float] {
    let divisor = pooling == .mean ? Double(windowCount) : 1
    let logits = values.map { Float($0 / divisor) }
    windowCount = 0
    for label in values.indices { values[label] = 0 }
    return logits
  }
}
