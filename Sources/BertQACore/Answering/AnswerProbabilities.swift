/// The probabilities of a document's spans and of "no answer".
struct AnswerProbabilities {
  let noAnswer: Float
  private let softmax: SpanSoftmax
  /// What the softmax has to divide.
  private let chance: Double

  /// - Parameters:
  ///   - gap: of the best candidate.
  ///   - highest: the best score of all spans, candidates or not: those without content have their share.
  init(
    logits: WindowLogits, maxLength: Int, gap: Float, highest: Float, _ decision: AnswerDecision,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    guard let calibration = decision.calibration,
      let chance = decision.answerChance(gap: gap, windows: logits.windows.count)
    else {
      // As the model is trained: "no answer" is one more span.
      softmax = try SpanSoftmax(
        logits: logits, maxLength: maxLength, best: highest, null: logits.nullScore, monitor)
      self.chance = 1
      noAnswer = Float(softmax.share(of: logits.nullScore))
      return
    }
    softmax = try SpanSoftmax(
      logits: logits, maxLength: maxLength, best: highest, temperature: calibration.spanTemperature, monitor)
    self.chance = chance
    noAnswer = Float(1 - chance)
  }

  func probability(of score: Float) -> Float { Float(chance * softmax.share(of: score)) }
}
