/// One pair on its way through the model: its windows, and their logits as they arrive.
final class PairWork {
  private let document: PreparedDocument
  private let emptyInput: AnswerResult.EmptyInput?
  private let questionWasTruncated: Bool
  private let skippedWindowCount: Int
  private let question: ArraySlice<Int32>
  /// What is accounted to this pair.
  private let memory: MemoryLedger
  private var logits: WindowLogits

  init(
    question text: UnsafeBufferPointer<UInt8>, document: PreparedDocument,
    tokenizer: any Tokenizer, _ settings: AnswerSettings, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "question")
    let before = monitor.heldBytes
    let tokens = try tokenizer.tokens(of: text, monitor).ids
    question = tokens.prefix(settings.maxQuestionLength)
    self.document = document
    questionWasTruncated = question.count < tokens.count
    emptyInput = question.isEmpty ? .emptyQuestion : document.tokenCount == 0 ? .emptyDocument : nil

    var windows: [TokenWindow] = []
    var skipped = 0
    if emptyInput == nil {
      windows = try settings.windows(
        questionTokens: question.count, documentTokens: document.tokenCount, monitor)
      let limit = settings.options.maxWindows
      if limit > 0 && windows.count > limit {
        skipped = windows.count - limit
        windows = try SectionRanking(question: question, tokenizer: tokenizer)
          .best(limit, of: windows, ids: document.tokens.ids, monitor)
      }
    }
    skippedWindowCount = skipped
    logits = try WindowLogits(windows: windows, monitor)
    // What `item` makes of the windows.
    try Memory.require(windows.count, of: WindowLayout.Parts.self)
    if windows.count > 1 { try monitor.hold(windows.count, of: WindowLayout.Parts.self) }
    memory = monitor.part(since: before)
  }

  var windows: [TokenWindow] { logits.windows }

  /// What the model reads.
  var item: WindowReader.Item {
    WindowReader.Item(
      first: question, second: document.tokens.ids[...],
      windows: windows.map { WindowLayout.Parts(first: 0..<question.count, second: $0.tokens) })
  }

  /// Takes over the start and end logits of a window.
  func store(_ output: WindowReader.Output) throws(BertQAError) {
    try logits.store(
      window: output.window, start: output.values, end: output.values + output.stride, classifier: 0,
      document: document.tokenizer.template.secondStart(firstCount: question.count))
  }

  /// Searches the logits of all windows and releases them. Called once, when all are stored.
  func result(
    _ settings: AnswerSettings, _ decision: AnswerDecision, _ monitor: CallMonitor
  ) throws(BertQAError) -> AnswerResult {
    let result = try monitor.temporarily { () throws(BertQAError) in
      try self.searched(settings, decision, monitor)
    }
    try monitor.holdResult(result.answers.count, of: Answer.self)
    return result
  }

  private func searched(
    _ settings: AnswerSettings, _ decision: AnswerDecision, _ monitor: CallMonitor
  ) throws(BertQAError) -> AnswerResult {
    let options = settings.options
    let threshold = decision.threshold(windows: logits.windows.count, asked: options.noAnswerThreshold)
    if let emptyInput {
      return .empty(
        emptyInput, questionWasTruncated: questionWasTruncated, noAnswerThreshold: threshold)
    }
    var logits = logits
    self.logits = WindowLogits()
    if options.nBestSize > 0 { try logits.keepBest(options.nBestSize, monitor) }
    let longestWindow = logits.windows.lazy.map(\.tokenCount).max() ?? 1
    let maxLength = min(options.maxAnswerLength, longestWindow)
    let search = try SpanSearch(
      logits: logits, maxLength: maxLength, document: document, alignsToWords: options.alignsToWords, monitor)
    var spans = try TopSpans(
      search: search, document: document, alignsToWords: options.alignsToWords, monitor)
    let taken = try spans.take(options.topK, monitor)

    let best = taken.first?.span.score ?? -.infinity
    let gap = best - logits.nullScore
    let probabilities = try AnswerProbabilities(
      logits: logits, maxLength: maxLength, gap: gap, highest: search.highestScore, decision, monitor)
    let isImpossible = gap < threshold
    var answers: [Answer] = []
    if !isImpossible || !options.handlesImpossibleAnswer {
      for span in taken { answers.append(try answer(span, logits, probabilities, monitor)) }
    }
    return AnswerResult(
      answers: answers, nullScore: logits.nullScore, gap: gap,
      noAnswerProbability: probabilities.noAnswer, isImpossible: isImpossible,
      noAnswerThreshold: threshold, questionWasTruncated: questionWasTruncated,
      windowCount: logits.windows.count, skippedWindowCount: skippedWindowCount, emptyInput: nil)
  }

  private func answer(
    _ taken: TopSpans.Taken, _ logits: WindowLogits, _ probabilities: AnswerProbabilities,
    _ monitor: CallMonitor
  ) throws(BertQAError) -> Answer {
    let span = taken.span
    let window = logits.windows[span.window]
    let shift = logits.offsets[span.window] - window.firstToken
    let sentence = try SentenceFinder(text: document.text).sentence(around: taken.bytes, monitor)
    let answerPositions = document.positions(of: taken.bytes)
    let sentencePositions = document.positions(of: sentence)
    return Answer(
      bytes: taken.bytes, codePoints: answerPositions.codePoints, utf16: answerPositions.utf16,
      sentence: sentence, sentenceCodePoints: sentencePositions.codePoints,
      sentenceUTF16: sentencePositions.utf16, score: span.score,
      probability: probabilities.probability(of: span.score), gap: span.score - logits.nullScore,
      startLogit: logits.start[span.first + shift], endLogit: logits.end[span.last + shift],
      windowIndex: window.index)
  }
}
