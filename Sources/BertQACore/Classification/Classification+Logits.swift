import Glibc

extension Classification {
  /// Makes a classification of a model's logits.
  /// - Parameters:
  ///   - logits: finite, one per label, in the order of `labels`.
  ///   - labels: at least one.
  ///   - poll: polled in between.
  init(
    logits: [Float], labels: [String], problemType: ProblemType, _ poll: CallPoll? = nil
  ) throws(BertQAError) {
    try self.init(
      logits: logits.checkedMap { Double($0) }, labels: labels, problemType: problemType, poll)
  }

  /// As above, for logits so large that single precision would blur their differences.
  /// - Parameter temperature: divides the logits before they become probabilities; above 0.
  init(
    logits: [Double], labels: [String], problemType: ProblemType, temperature: Double = 1,
    _ poll: CallPoll? = nil
  ) throws(BertQAError) {
    // Two copies of the logits, their probabilities and the order.
    try Memory.require(logits.count, of: (Double, Double, Float, Int).self)
    self.init(scores: [], problemType: problemType)
    let probabilities = Self.probabilities(
      temperature == 1 ? logits : logits.map { $0 / temperature }, problemType)
    var order = Array(labels.indices)
    // Predicted numbers are not ranked: they keep the model's order.
    if problemType != .regression {
      order = try order.checkedSorted(poll) { (logits[$1], $0) < (logits[$0], $1) }
    }
    scores = try order.checkedMap(poll) {
      LabelScore(label: labels[$0], id: $0, probability: probabilities[$0], logit: Float(logits[$0]))
    }
  }

  private static func probabilities(_ logits: [Double], _ problemType: ProblemType) -> [Float] {
    switch problemType {
    case .singleLabel:
      var probabilities = logits
      probabilities.withUnsafeMutableBufferPointer { buffer in
        if let base = buffer.baseAddress { softmax(base, count: buffer.count) }
      }
      return probabilities.map { Float($0) }
    case .multiLabel:
      return logits.map { Float(1 / (1 + exp(-$0))) }
    case .regression:
      return logits.map { _ in .nan }
    }
  }
}
