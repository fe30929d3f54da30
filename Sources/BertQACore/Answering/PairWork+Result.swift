extension PairWork {
  /// Searches the logits of all windows. Called once, when complete.
  func result(options: AnswerOptions, noAnswerThreshold: Float) -> AnswerResult {
    let threshold = options.noAnswerThreshold ?? noAnswerThreshold
    if let emptyInput {
      return .empty(
        emptyInput, questionWasTruncated: questionWasTruncated, noAnswerThreshold: threshold)
    }
    let logits = finishedLogits(nBestSize: options.nBestSize)
    let longestWindow = logits.windows.map(\.tokenCount).max() ?? 1
    let maxLength = min(options.maxAnswerLength, longestWindow)
    let search = SpanSearch(logits: logits, maxLength: maxLength)
    var spans = TopSpans(search: search, document: document, alignsToWords: options.alignsToWords)
    let taken = spans.take(options.topK)

    let best = taken.first?.span.score ?? -.infinity
    let softmax = SpanSoftmax(logits: logits, maxLength: maxLength, best: best)
    let gap = best - logits.nullScore
    let isImpossible = gap < threshold
    let answers =
      isImpossible && options.handlesImpossibleAnswer
      ? [] : taken.map { answer($0, logits, softmax) }
    return AnswerResult(
      answers: answers, nullScore: logits.nullScore, gap: gap,
      noAnswerProbability: softmax.probability(of: logits.nullScore), isImpossible: isImpossible,
      noAnswerThreshold: threshold, questionWasTruncated: questionWasTruncated,
      windowCount: logits.windows.count,
      skippedWindowCount: skippedWindowCount, emptyInput: nil)
  }

  private func answer(
    _ taken: TopSpans.Taken, _ logits: WindowLogits, _ softmax: SpanSoftmax
  ) -> Answer {
    let span = taken.span
    let window = logits.windows[span.window]
    let shift = logits.offsets[span.window] - window.firstToken
    let sentence = SentenceFinder(text: document.text).sentence(around: taken.bytes)
    let answerPositions = document.positions(of: taken.bytes)
    let sentencePositions = document.positions(of: sentence)
    return Answer(
      bytes: taken.bytes, codePoints: answerPositions.codePoints, utf16: answerPositions.utf16,
      sentence: sentence, sentenceCodePoints: sentencePositions.codePoints,
      sentenceUTF16: sentencePositions.utf16, score: span.score,
      probability: softmax.probability(of: span.score), gap: span.score - logits.nullScore,
      startLogit: logits.start[span.first + shift], endLogit: logits.end[span.last + shift],
      windowIndex: window.index)
  }
}
