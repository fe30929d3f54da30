import Glibc

extension Classification {
  /// What logits say.
  /// - Parameters:
  ///   - logits: finite, one per label, in the order of `labels`.
  ///   - labels: one at least.
  init(logits: [Float], labels: [String], problemType: ProblemType) {
    self.init(scores: [], problemType: problemType)
    let probabilities = Self.probabilities(logits, problemType)
    scores = labels.indices.map {
      LabelScore(label: labels[$0], id: $0, probability: probabilities[$0], logit: logits[$0])
    }
    // Numbers have no order of merit: they stay in the model's.
    guard problemType != .regression else { return }
    scores.sort { ($1.logit, $0.id) < ($0.logit, $1.id) }
  }

  private static func probabilities(_ logits: [Float], _ problemType: ProblemType) -> [Float] {
    switch problemType {
    case .singleLabel:
      var probabilities = logits.map(Double.init)
      probabilities.withUnsafeMutableBufferPointer { buffer in
        if let base = buffer.baseAddress { softmax(base, count: buffer.count) }
      }
      return probabilities.map { Float($0) }
    case .multiLabel:
      return logits.map { Float(1 / (1 + exp(-Double($0)))) }
    case .regression:
      return logits.map { _ in .nan }
    }
  }
}
