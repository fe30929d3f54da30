/// Extractive question answering over a tokenizer and a model: windows, spans, answers.
///
/// Immutable: any number of threads may use it at once.
struct QuestionAnswerer: Sendable {
  let tokenizer: any TextTokenizer
  let logits: any LogitsSource
  /// The longest window that the model takes.
  let maxPositions: Int
  /// The model's threshold, for options that do not give one.
  let noAnswerThreshold: Float
  /// The model is called once this many tokens of windows have come together: bounds the memory of a
  /// call, whatever the documents' sizes. Results do not depend on it.
  var sliceTokens = 65_536
  /// The same where the caller wants to be told of the progress: often enough to watch.
  static let watchedSliceTokens = 16_384

  init(
    tokenizer: any TextTokenizer, logits: any LogitsSource, maxPositions: Int, noAnswerThreshold: Float
  ) {
    self.tokenizer = tokenizer
    self.logits = logits
    self.maxPositions = maxPositions
    self.noAnswerThreshold = noAnswerThreshold
  }

  /// Tokenizes a copy of `text`, to be asked many times.
  func prepare(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> PreparedDocument {
    try PreparedDocument(copying: text, tokenizer: tokenizer)
  }

  func answer(
    question: UnsafeBufferPointer<UInt8>, document: PreparedDocument, options: AnswerOptions
  ) throws(BertQAError) -> AnswerResult {
    let pair = QuestionDocumentPair(question: question, document: .prepared(document))
    return try answerBatch([pair], options: options)[0]
  }

  /// Asks once, without a copy of `document`.
  func answer(
    question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>, options: AnswerOptions
  ) throws(BertQAError) -> AnswerResult {
    let pair = QuestionDocumentPair(question: question, document: .text(document))
    return try answerBatch([pair], options: options)[0]
  }

  /// One result per pair, in order. The windows of all pairs are one list of work; a pair's results are
  /// made, and its logits released, as soon as its last window is done.
  func answerBatch(
    _ pairs: [QuestionDocumentPair], options: AnswerOptions
  ) throws(BertQAError) -> [AnswerResult] {
    var options = options
    options.fit(maxPositions: maxPositions)
    try options.validate(maxPositions: maxPositions)
    var results: [AnswerResult] = []
    results.reserveCapacity(pairs.count)
    var slice = WindowSlice()
    var waiting: [PairWork] = []
    var windowsRead = 0
    var windowsKnown = 0
    let sliceTokens =
      options.progress == nil ? sliceTokens : min(sliceTokens, Self.watchedSliceTokens)
    func runSlice() throws(BertQAError) {
      options.progress?(windowsRead, windowsKnown)
      windowsRead += slice.windowCount
      try slice.run(logits, options.cancellation)
      takeResults(of: &waiting, options, into: &results)
    }
    for (index, pair) in pairs.enumerated() {
      let work: PairWork
      do throws(BertQAError) {
        work = try PairWork(
          question: pair.question, document: try document(of: pair), tokenizer: tokenizer,
          options: options)
      } catch {
        if pairs.count == 1 { throw error }
        throw BertQAError(error.status, "pairs[\(index)]: \(error.message)")
      }
      waiting.append(work)
      windowsKnown += work.windows.count
      for window in work.windows.indices {
        slice.append(work, window: window)
        if slice.tokenCount >= sliceTokens { try runSlice() }
      }
    }
    try runSlice()
    options.progress?(windowsRead, windowsKnown)
    return results
  }

  private func document(of pair: QuestionDocumentPair) throws(BertQAError) -> PreparedDocument {
    switch pair.document {
    case .text(let text):
      return try PreparedDocument(borrowing: text, tokenizer: tokenizer)
    case .prepared(let document):
      if tokenizer.agrees(with: document.tokenizer) { return document }
      throw BertQAError(
        .invalidArgument,
        "the document was prepared with another vocabulary: prepare it with the context that is asked")
    }
  }

  /// The pairs are finished in order, so the complete ones are at the front.
  private func takeResults(
    of waiting: inout [PairWork], _ options: AnswerOptions, into results: inout [AnswerResult]
  ) {
    let complete = waiting.prefix { $0.isComplete }
    for work in complete {
      results.append(work.result(options: options, noAnswerThreshold: noAnswerThreshold))
    }
    waiting.removeFirst(complete.count)
  }
}
