import Glibc

/// Fits a model's `LengthTemperature` to the predictions of cross-validation models for texts that they had
/// not seen. Memory: 4 bytes per text and label.
final class Calibration {
  private struct Text {
    var fold: Int
    var target: Int
    var occurrences: Int
  }

  private let labelCount: Int
  private let foldCount: Int
  private let monitor: CallMonitor
  private let heldBytes: Int
  private var texts: [Text] = []
  /// [text][label], minus each text's largest logit; -∞ for labels that the fold's model does not have.
  private var logits = GrowableBuffer<Float>()

  init(textCount: Int, labelCount: Int, foldCount: Int, _ monitor: CallMonitor) throws(BertQAError) {
    self.labelCount = labelCount
    self.foldCount = foldCount
    self.monitor = monitor
    let bytes = textCount * (labelCount * MemoryLayout<Float>.stride + MemoryLayout<Text>.stride)
    try monitor.hold(bytes)
    // Once all properties are set, `deinit` runs even if this throws.
    heldBytes = bytes
    try logits.reserve(textCount * labelCount)
    texts = try [Text](checkedCapacity: textCount)
  }

  deinit { monitor.release(heldBytes) }

  /// - Parameters:
  ///   - logits: finite.
  ///   - labels: the label of each logit.
  ///   - occurrences: the number of occurrences of features in the text.
  func add(fold: Int, target: Int, logits values: [Double], of labels: [Int], occurrences: Int)
    throws(BertQAError)
  {
    let start = logits.count
    let most = values.max() ?? 0
    for _ in 0..<labelCount { try logits.append(-.infinity) }
    for (label, value) in zip(labels, values) { logits[start + label] = Float(value - most) }
    texts.append(Text(fold: fold, target: target, occurrences: occurrences))
  }

  /// Returns the temperature that fits all texts.
  func temperature(_ team: borrowing ThreadPool.Team) throws(BertQAError) -> LengthTemperature {
    try temperature(exceptOfFold: nil, team)
  }

  /// Returns the quality of the predictions if each fold is calibrated by the others.
  func metrics(_ team: borrowing ThreadPool.Team) throws(BertQAError) -> PredictionMetrics {
    var metrics = PredictionMetrics(labelCount: labelCount)
    let labels = Array(0..<labelCount)
    var scaled = [Double](repeating: 0, count: labelCount)
    for fold in 0..<foldCount {
      let temperature = try temperature(exceptOfFold: fold, team)
      for (index, text) in texts.enumerated() {
        if index % CallPoll.elementInterval == 0 { try monitor.check() }
        guard text.fold == fold else { continue }
        let divisor = temperature.at(occurrences: text.occurrences)
        for label in labels { scaled[label] = Double(logits[index * labelCount + label]) / divisor }
        metrics.add(target: text.target, logits: &scaled, of: labels)
      }
    }
    return metrics
  }

  private func temperature(
    exceptOfFold excluded: Int?, _ team: borrowing ThreadPool.Team
  ) throws(BertQAError) -> LengthTemperature {
    // If a model does not have the label, its probability is zero at every temperature.
    var occurrences = try [Int](checkedCapacity: texts.count)
    var targets = try [Int](checkedCapacity: texts.count)
    var rows = try [UnsafePointer<Float>](checkedCapacity: texts.count)
    for (index, text) in texts.enumerated() {
      if index % CallPoll.elementInterval == 0 { try monitor.check() }
      let row = UnsafePointer(logits.base + index * labelCount)
      guard text.fold != excluded, row[text.target].isFinite else { continue }
      occurrences.append(text.occurrences)
      targets.append(text.target)
      rows.append(row)
    }
    guard !rows.isEmpty else { return .one }
    // The few longest texts must not decide how far the temperature holds.
    let longest = min(
      try occurrences.checkedSorted(CallPoll(monitor), by: <)[rows.count * 19 / 20], Int(Int32.max))
    let loss = TemperatureLoss(
      occurrences: occurrences, longest: longest, targets: targets, rows: rows, labelCount: labelCount)
    let solver = try LBFGS(loss, monitor)
    _ = try solver.minimize(tolerance: 1e-7, maxIterations: 200, team: team) { _ in }
    withExtendedLifetime(self) {}
    return loss.temperature(at: solver.x.base)
  }
}

/// The mean log loss of calibrated probabilities, and its gradient. A position has the logarithm of the
/// temperature at the mean length, and the slope. Lengths are ln(1 + occurrences), at most that of the longest.
private final class TemperatureLoss: SmoothFunction {
  let length = 2
  private let lengths: [Double]
  private let meanLength: Double
  private let longest: Int
  /// [text]: below 1 for texts with more occurrences than the longest; see `LengthTemperature.longest`.
  private let shares: [Double]
  private let targets: [Int]
  /// [text]: the logits of each label, some -∞, that of the target finite.
  private let rows: [UnsafePointer<Float>]
  private let labelCount: Int
  private var scores: [Double]

  /// The weight of (logarithm² + slope²) / 2, in texts. It keeps both finite if every prediction is right or
  /// all texts have the same length.
  private static let priorWeight = 1.0

  init(
    occurrences: [Int], longest: Int, targets: [Int], rows: [UnsafePointer<Float>], labelCount: Int
  ) {
    self.longest = longest
    lengths = occurrences.map { log(1 + Double(min($0, longest))) }
    shares = occurrences.map { $0 > longest && longest > 0 ? Double(longest) / Double($0) : 1 }
    meanLength = lengths.reduce(0, +) / Double(lengths.count)
    self.targets = targets
    self.rows = rows
    self.labelCount = labelCount
    scores = [Double](repeating: 0, count: labelCount)
  }

  func temperature(at position: UnsafePointer<Double>) -> LengthTemperature {
    func limited(_ value: Double) -> Double {
      min(max(value, LengthTemperature.limits.lowerBound), LengthTemperature.limits.upperBound)
    }
    return LengthTemperature(
      intercept: limited(position[0] - position[1] * meanLength), slope: limited(position[1]),
      longest: longest > 0 ? longest : nil)
  }

  func evaluate(
    _ position: UnsafePointer<Double>, gradient: UnsafeMutablePointer<Double>,
    team: borrowing ThreadPool.Team
  ) -> Double {
    var (loss, byLogarithm, bySlope) = (0.0, 0.0, 0.0)
    for text in rows.indices {
      let row = rows[text]
      let distance = lengths[text] - meanLength
      let factor = shares[text] * exp(-(position[0] + position[1] * distance))
      for label in 0..<labelCount { scores[label] = Double(row[label]) * factor }
      let target = Double(row[targets[text]])
      loss += softmax(&scores, count: labelCount) - target * factor
      // The expected logit minus the target's: the derivative by the factor.
      var excess = -target
      for label in 0..<labelCount where scores[label] > 0 { excess += scores[label] * Double(row[label]) }
      byLogarithm -= factor * excess
      bySlope -= factor * excess * distance
    }
    let count = Double(rows.count)
    let prior = Self.priorWeight
    gradient[0] = (byLogarithm + prior * position[0]) / count
    gradient[1] = (bySlope + prior * position[1]) / count
    return (loss + prior / 2 * (position[0] * position[0] + position[1] * position[1])) / count
  }
}
