/// A question on its way through the model: the sections of its documents, and their logits as they arrive.
///
/// The model reads the sections in rounds. After each, `outcome` decides whether that is enough.
final class QuestionWork {
  private let documents: [PreparedDocument]
  private let emptyInput: AnswerResult.EmptyInput?
  private let questionWasTruncated: Bool
  private let question: ArraySlice<Int32>
  private let plan: ReadingPlan
  /// In the order of the documents.
  private let sections: [DocumentSection]
  /// By document: the number of sections before its first.
  private let firstSections: [Int]
  /// nil if all sections are read at once and compared by their raw scores.
  private let ranking: RankedSections?
  private var readCount = 0
  /// Set if the call was stopped.
  private var interruption: ReadingStop?
  /// By document, of the sections read and of those of this round.
  private var logits: [WindowLogits]
  /// The memory that this question accounts for.
  private var memory: [MemoryLedger] = []
  private let monitor: CallMonitor

  /// The approximate bytes of the small objects that a document takes here, its searches among them.
  private static let objectBytes = 512

  /// The windows of one document that a round reads.
  struct Part {
    let document: Int
    let windows: [TokenWindow]
  }

  init(
    question text: UnsafeBufferPointer<UInt8>, documents: [PreparedDocument], ranks: [Double] = [],
    tokenizer: any Tokenizer, _ settings: AnswerSettings, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "question")
    let before = monitor.heldBytes
    try monitor.hold(documents.count * Self.objectBytes)
    let tokens = try tokenizer.tokens(of: text, monitor)
    let question = tokens.ids.prefix(settings.maxQuestionLength)
    self.question = question
    self.documents = documents
    self.monitor = monitor
    questionWasTruncated = question.count < tokens.count
    emptyInput =
      question.isEmpty ? .emptyQuestion : documents.allSatisfy { $0.tokenCount == 0 } ? .emptyDocument : nil
    var sections: [DocumentSection] = []
    var firstSections = try [Int](checkedCapacity: documents.count, monitor)
    if emptyInput == nil {
      for (index, document) in documents.enumerated() {
        firstSections.append(sections.count)
        if document.tokenCount == 0 { continue }
        let windows = try settings.windows(questionTokens: question.count, of: document, monitor)
        try sections.makeRoom(for: windows.count, monitor)
        for window in windows { sections.append(DocumentSection(document: index, window: window)) }
      }
    }
    self.sections = sections
    self.firstSections = firstSections
    let isRanked =
      !settings.plan.comparesRawScores || settings.plan.round(of: sections.count, after: 0) < sections.count
    var ranking: RankedSections?
    if isRanked && sections.count > 1 {
      // As the model reads it: cut at the maximum length.
      let words = UnsafeBufferPointer(rebasing: text[..<Int(tokens.ends[question.count - 1])])
      ranking = try RankedSections(
        scores: ranks.isEmpty
          ? SectionRanking(question: words, monitor).scores(
            of: sections, texts: documents.checkedMap { $0.tokenized }, monitor)
          : sections.checkedMap(CallPoll(monitor)) { ranks[$0.document] }, monitor)
    }
    self.ranking = ranking
    plan = settings.plan.withRanks(known: ranking?.best != 0)
    logits = try [WindowLogits](repeating: WindowLogits(), count: documents.count, monitor)
    memory.append(monitor.part(since: before))
  }

  // MARK: - Rounds

  /// Returns what the model reads first, by document; nothing if the question or all documents are empty.
  func firstRound() throws(BertQAError) -> [Part] { try round(plan.round(of: sections.count, after: 0)) }

  /// Returns the next `count` sections by rank.
  private func round(_ count: Int) throws(BertQAError) -> [Part] {
    let before = monitor.heldBytes
    defer { memory.append(monitor.part(since: before)) }
    let chosen = readCount..<readCount + count
    readCount += count
    var numbers = ranking.map { Array($0.order[chosen]) } ?? Array(chosen)
    try numbers.checkedSort(CallPoll(monitor), by: <)
    var parts: [Part] = []
    var first = 0
    while first < numbers.count {
      let document = sections[numbers[first]].document
      let end = numbers[first...].firstIndex { sections[$0].document != document } ?? numbers.count
      try Memory.requireReserve(atItem: parts.count)
      try parts.makeRoom(for: 1)
      let windows = try numbers[first..<end].checkedMap(CallPoll(monitor)) { sections[$0].window }
      let known = logits[document]
      let all = known.windows.isEmpty ? windows : (known.windows + windows).sorted(byKey: { $0.index })
      logits[document] = try WindowLogits(windows: all, keeping: known, monitor)
      monitor.release(known.heldBytes)
      parts.append(Part(document: document, windows: windows))
      first = end
    }
    return parts
  }

  func item(of part: Part) -> WindowReader.Item {
    WindowReader.Item(
      first: question, second: documents[part.document].tokens.ids[...],
      windows: part.windows.map { WindowLayout.Parts(first: 0..<question.count, second: $0.tokens) })
  }

  /// Takes over the start and end logits of a window.
  func store(_ output: WindowReader.Output, of part: Part) throws(BertQAError) {
    let document = part.document
    try logits[document].store(
      window: logits[document].position(of: part.windows[output.window]), start: output.values,
      end: output.values + output.stride, classifier: 0,
      document: documents[document].tokenizer.template.secondStart(firstCount: question.count))
  }

  // MARK: - Result

  enum Outcome {
    case result(AnswerResult)
    case round([Part])
  }

  /// Searches the logits of all sections that are read. Returns the next round if that is not enough.
  func outcome(_ settings: AnswerSettings, _ decision: AnswerDecision) throws(BertQAError) -> Outcome {
    let next = plan.round(of: sections.count, after: readCount)
    if next > 0, plan.limit != .enough { return .round(try round(next)) }
    let result = try monitor.temporarily { () throws(BertQAError) in
      try searched(settings, decision)
    }
    let rank = ranking.flatMap { readCount < sections.count ? $0.rank(of: $0.order[readCount]) : nil } ?? 0
    if next > 0, !plan.isEnough(gap: result.gap, rank: rank) { return .round(try round(next)) }
    try monitor.holdResult(result.answers.count, of: Answer.self)
    return .result(result)
  }

  /// Returns the result of the sections that were read before the call was stopped.
  func partialResult(
    _ stop: ReadingStop, _ settings: AnswerSettings, _ decision: AnswerDecision
  ) throws(BertQAError) -> AnswerResult {
    interruption = stop
    for document in documents.indices { try logits[document].keepRead(monitor) }
    readCount = logits.reduce(0) { $0 + $1.windows.count }
    let result = try monitor.temporarily { () throws(BertQAError) in try searched(settings, decision) }
    try monitor.holdResult(result.answers.count, of: Answer.self)
    return result
  }

  private var stop: ReadingStop {
    if readCount == sections.count { return .all }
    if let interruption { return interruption }
    return plan.limit == .enough && readCount < ReadingPlan.mostSections(of: sections.count)
      ? .enough : .limit
  }

  private func searched(_ settings: AnswerSettings, _ decision: AnswerDecision) throws(BertQAError)
    -> AnswerResult
  {
    let options = settings.options
    // Gaps over each section's own null score do not rise with the number of sections: they count as one window.
    let windows = comparesRawScores ? readCount : 1
    let threshold = decision.threshold(windows: windows, asked: options.noAnswerThreshold)
    if let emptyInput {
      return .empty(
        emptyInput, questionWasTruncated: questionWasTruncated, noAnswerThreshold: threshold)
    }
    guard readCount > 0 else {
      return .empty(
        nil, questionWasTruncated: questionWasTruncated, noAnswerThreshold: threshold,
        skippedWindowCount: sections.count, stop: stop)
    }
    let longestWindow = sections.lazy.map(\.window.tokenCount).max() ?? 1
    let maxLength = min(options.maxAnswerLength, longestWindow)
    let null = comparesRawScores ? leastNullScore : 0
    var searches: [SpanSearch] = []
    var sources: [FoundAnswers.Source] = []
    for (index, document) in documents.enumerated() where !logits[index].windows.isEmpty {
      try Memory.requireReserve(atItem: sources.count)
      try sources.makeRoom(for: 1, monitor)
      try searches.makeRoom(for: 1, monitor)
      let search = try SpanSearch(
        logits: try compared(index, options), maxLength: maxLength, document: document,
        alignsToWords: options.alignsToWords, monitor)
      let spans = try TopSpans(
        search: search, document: document, alignsToWords: options.alignsToWords, monitor)
      sources.append(FoundAnswers.Source(document: index, text: document.text, spans: spans))
      searches.append(search)
    }
    let found = try FoundAnswers(
      sources, options.topK,
      temperature: plan.comparesRawScores ? nil : decision.calibration?.spanTemperature ?? 1, monitor
    ).entries
    let gap = (found.first?.score ?? -.infinity) - null
    let probabilities = try AnswerProbabilities(
      searches, maxLength: maxLength, gap: gap, null: null, windows: windows, decision, monitor)
    let isImpossible = gap < threshold
    var answers: [Answer] = []
    if !isImpossible || !options.handlesImpossibleAnswer {
      for entry in found { answers.append(try answer(entry, null, probabilities)) }
    }
    return AnswerResult(
      answers: answers,
      nullScore: found.first.map { nullScore(of: $0.document, $0.span.span) } ?? leastNullScore, gap: gap,
      noAnswerProbability: probabilities.noAnswer, isImpossible: isImpossible,
      noAnswerThreshold: threshold, questionWasTruncated: questionWasTruncated,
      windowCount: readCount, skippedWindowCount: sections.count - readCount, stop: stop, emptyInput: nil)
  }

  /// Returns a document's logits, changed so that the scores of spans are comparable over all sections.
  private func compared(_ document: Int, _ options: AnswerOptions) throws(BertQAError) -> WindowLogits {
    var logits = logits[document]
    // The arrays that are changed are copied.
    let copies = options.nBestSize > 0 ? 2 : comparesRawScores ? 0 : 1
    try Memory.require(copies * logits.start.count, of: Float.self)
    try monitor.hold(copies * logits.start.count, of: Float.self)
    if let ranking, !comparesRawScores {
      let amounts = try logits.windows.indices.checkedMap(CallPoll(monitor)) {
        let section = firstSections[document] + logits.windows[$0].index
        return logits.nullScores[$0] + ReadingPlan.penalty(ofRank: ranking.rank(of: section))
      }
      try logits.lowerScores(by: amounts, monitor)
    }
    if options.nBestSize > 0 { try logits.keepBest(options.nBestSize, monitor) }
    return logits
  }

  /// True if all spans are compared with the same null score.
  private var comparesRawScores: Bool { ranking == nil || plan.comparesRawScores }

  /// 0 if no section was read.
  private var leastNullScore: Float { logits.lazy.compactMap { $0.nullScores.min() }.min() ?? 0 }

  private func nullScore(of document: Int, _ span: ScoredSpan) -> Float {
    comparesRawScores ? leastNullScore : logits[document].nullScores[span.window]
  }

  private func answer(
    _ entry: FoundAnswers.Entry, _ null: Float, _ probabilities: AnswerProbabilities
  ) throws(BertQAError) -> Answer {
    let (taken, span) = (entry.span, entry.span.span)
    let document = documents[entry.document]
    let logits = logits[entry.document]
    let window = logits.windows[span.window]
    let shift = logits.offsets[span.window] - window.firstToken
    let (start, end) = (logits.start[span.first + shift], logits.end[span.last + shift])
    let sentence = try SentenceFinder(text: document.text).sentence(around: taken.bytes, monitor)
    let answerPositions = document.positions(of: taken.bytes)
    let sentencePositions = document.positions(of: sentence)
    return Answer(
      documentIndex: entry.document, bytes: taken.bytes, codePoints: answerPositions.codePoints,
      utf16: answerPositions.utf16,
      sentence: sentence, sentenceCodePoints: sentencePositions.codePoints,
      sentenceUTF16: sentencePositions.utf16, score: start + end,
      probability: probabilities.probability(of: entry.score), gap: entry.score - null,
      startLogit: start, endLogit: end, windowIndex: window.index)
  }
}
