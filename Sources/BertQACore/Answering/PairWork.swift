/// One pair on its way through the model: its windows, and their logits as they arrive.
final class PairWork {
  let document: PreparedDocument
  let emptyInput: AnswerResult.EmptyInput?
  let questionWasTruncated: Bool
  let skippedWindowCount: Int
  /// [CLS] question [SEP]: what every window begins with.
  let prefix: [Int32]
  private(set) var logits: WindowLogits
  private var missingWindows: Int

  init(
    question text: UnsafeBufferPointer<UInt8>, document: PreparedDocument,
    tokenizer: any TextTokenizer, options: AnswerOptions
  ) throws(BertQAError) {
    try PreparedDocument.checkSize(text, "question")
    var question = Tokens()
    try tokenizer.tokenize(text, parseSpecialTokens: false, into: &question, nil)
    let ids = question.ids.prefix(options.maxQuestionLength)
    self.document = document
    questionWasTruncated = ids.count < question.ids.count
    emptyInput = ids.isEmpty ? .emptyQuestion : document.tokenCount == 0 ? .emptyDocument : nil
    prefix = [tokenizer.clsID] + ids + [tokenizer.sepID]

    var windows: [DocumentWindow] = []
    var skipped = 0
    if emptyInput == nil {
      let room = try options.documentRoom(questionTokens: ids.count)
      windows = try DocumentWindow.layout(
        tokenCount: document.tokenCount, room: room, overlap: options.documentStride)
      if options.maxWindows > 0 && windows.count > options.maxWindows {
        skipped = windows.count - options.maxWindows
        windows = SectionRanking(question: ids, tokenizer: tokenizer)
          .best(options.maxWindows, of: windows, ids: document.tokens.ids)
      }
    }
    skippedWindowCount = skipped
    missingWindows = windows.count
    logits = WindowLogits(windows: windows)
  }

  var windows: [DocumentWindow] { logits.windows }
  var isComplete: Bool { missingWindows == 0 }

  /// Takes over the logits of window `index`, whose tokens begin at `firstToken` of the batch.
  func store(
    window index: Int, start: [Float], end: [Float], firstToken: Int
  ) throws(BertQAError) {
    try logits.store(
      window: index, start: start, end: end, classifier: firstToken, document: firstToken + prefix.count)
    missingWindows -= 1
  }

  /// Masks what `n_best_size` excludes and gives the logits away: they are not needed here afterwards.
  func finishedLogits(nBestSize: Int) -> WindowLogits {
    var finished = logits
    logits = WindowLogits(windows: [])
    if nBestSize > 0 { finished.keepBest(nBestSize) }
    return finished
  }
}
