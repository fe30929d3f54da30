/// The probabilities of the spans of a question's documents and of "no answer".
struct AnswerProbabilities {
  let noAnswer: Float
  private let softmax: SpanSoftmax
  /// The sum of the probabilities that the softmax divides.
  private let chance: Double

  /// - Parameters:
  ///   - searches: by document. Spans without content are not candidates but have their share.
  ///   - gap: the best candidate's.
  ///   - null: the score of "no answer".
  ///   - windows: the number of windows read.
  init(
    _ searches: [SpanSearch], maxLength: Int, gap: Float, null: Float, windows: Int,
    _ decision: AnswerDecision,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    let logits = try searches.checkedMap(CallPoll(monitor)) { $0.logits }
    let highest = searches.lazy.map(\.highestScore).max() ?? -.infinity
    guard let calibration = decision.calibration,
      let chance = decision.answerChance(gap: gap, windows: windows)
    else {
      // As in training: "no answer" is one more span.
      softmax = try SpanSoftmax(logits, maxLength: maxLength, best: highest, null: null, monitor)
      self.chance = 1
      noAnswer = Float(softmax.share(of: null))
      return
    }
    softmax = try SpanSoftmax(
      logits, maxLength: maxLength, best: highest, temperature: calibration.spanTemperature, monitor)
    self.chance = chance
    noAnswer = Float(1 - chance)
  }

  func probability(of score: Float) -> Float { Float(chance * softmax.share(of: score)) }
}
