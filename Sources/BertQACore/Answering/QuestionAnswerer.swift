/// One question for one document. The texts must stay as they are during the call they are passed to.
public struct QuestionDocumentPair {
  public enum Document {
    case text(UnsafeBufferPointer<UInt8>)
    case prepared(PreparedDocument)
  }

  public var question: UnsafeBufferPointer<UInt8>
  public var document: Document

  public init(question: UnsafeBufferPointer<UInt8>, document: Document) {
    self.question = question
    self.document = document
  }
}

/// Extractive question answering: which windows of a document a question is read with, and the best spans over
/// all of them. Immutable: any number of threads may use it at once.
struct QuestionAnswerer: Sendable {
  var reader: WindowReader
  let decision: AnswerDecision

  var tokenizer: any Tokenizer { reader.tokenizer }

  /// Tokenizes a copy of `text`, to be asked many times.
  func prepare(
    _ text: UnsafeBufferPointer<UInt8>, _ call: CallOptions = CallOptions()
  ) throws(BertQAError) -> PreparedDocument {
    try PreparedDocument(copying: text, tokenizer: tokenizer, CallMonitor(call))
  }

  /// One result per pair, in order; the first failure ends the call and names its pair.
  func answer(
    _ pairs: [QuestionDocumentPair], _ options: AnswerOptions
  ) throws(BertQAError) -> [AnswerResult] {
    try all(options) { options throws(BertQAError) in try answerEach(pairs, options) }
  }

  /// One result or failure per pair, in order. What concerns the whole call is thrown.
  ///
  /// The windows of all pairs are one list of work; a pair's result is made, and its logits are released, as soon
  /// as its last window is done.
  func answerEach(
    _ pairs: [QuestionDocumentPair], _ options: AnswerOptions
  ) throws(BertQAError) -> [Result<AnswerResult, BertQAError>] {
    let monitor = CallMonitor(options.call)
    let settings = try AnswerSettings(
      options, maxPositions: reader.maxPositions, template: tokenizer.template)
    try monitor.check()
    var documents = try DocumentCache(pairs, monitor)
    var results = try [Result<AnswerResult, BertQAError>](results: .missing, count: pairs.count, monitor)
    var work = try [PairWork?](results: nil, count: pairs.count, monitor)
    try reader.read(count: pairs.count, called: "pairs", monitor) { index throws(BertQAError) in
      let document = try documents.document(of: pairs[index], index, tokenizer, monitor)
      let pair = try monitor.undoing { () throws(BertQAError) in
        try PairWork(
          question: pairs[index].question, document: document, tokenizer: tokenizer, settings, monitor)
      }
      if pair.windows.isEmpty {
        results[index] = .success(
          try pair.result(settings, decision, monitor))
      } else {
        work[index] = pair
      }
      return pair.item
    } failed: { index, error throws(BertQAError) in
      results[index] = .failure(error)
      work[index] = nil
    } deliver: { output throws(BertQAError) in
      guard let pair = work[output.item] else { return }
      try pair.store(output)
      guard output.isLastOfItem else { return }
      work[output.item] = nil
      results[output.item] = .success(
        try pair.result(settings, decision, monitor))
    }
    return results
  }

  /// The prepared documents of a call: one that several pairs ask is tokenized once.
  private struct DocumentCache {
    private struct Key: Hashable {
      let start: UnsafePointer<UInt8>?
      let count: Int
    }

    /// By the text's place in memory: the last pair that asks it.
    private var lastUse: [Key: Int] = [:]
    private var prepared: [Key: PreparedDocument] = [:]
    private var tokensKept = 0

    /// Beyond this, documents are tokenized again rather than kept: 50 MB of tokens.
    private static let maxTokensKept = 1 << 22

    init(_ pairs: [QuestionDocumentPair], _ monitor: CallMonitor) throws(BertQAError) {
      guard pairs.count > 1 else { return }
      // Keys and indices, in a table that may be filled to a half and doubles.
      try Memory.require(6 * pairs.count, of: Key.self)
      try monitor.holdResult(6 * pairs.count, of: Key.self)
      for (index, pair) in pairs.enumerated() {
        if index % 4096 == 0 { try monitor.check() }
        guard case .text(let text) = pair.document, text.count > 0 else { continue }
        lastUse[Key(start: text.baseAddress, count: text.count)] = index
      }
    }

    mutating func document(
      of pair: QuestionDocumentPair, _ index: Int, _ tokenizer: any Tokenizer, _ monitor: CallMonitor
    ) throws(BertQAError) -> PreparedDocument {
      let text: UnsafeBufferPointer<UInt8>
      switch pair.document {
      case .prepared(let document):
        if tokenizer.agrees(with: document.tokenizer) { return document }
        throw BertQAError(
          .invalidArgument, argument: "document",
          "was prepared with another vocabulary: prepare it with the context that is asked")
      case .text(let bytes): text = bytes
      }
      let key = Key(start: text.baseAddress, count: text.count)
      let isLast = lastUse[key].map { $0 == index } ?? true
      if let document = prepared[key] {
        if isLast {
          prepared[key] = nil
          tokensKept -= document.tokenCount
        }
        return document
      }
      let document = try monitor.undoing { () throws(BertQAError) in
        try PreparedDocument(borrowing: text, tokenizer: tokenizer, monitor)
      }
      if !isLast, tokensKept + document.tokenCount <= Self.maxTokensKept {
        prepared[key] = document
        tokensKept += document.tokenCount
      }
      return document
    }
  }
}
