/// A document tokenized once, to be asked any number of questions from any number of threads.
///
/// It may be used with the context that made it, which it outlives, and with others of the same vocabulary
/// and tokenizer settings.
public final class PreparedDocument: @unchecked Sendable {  // immutable once initialised
  let text: UnsafeBufferPointer<UInt8>
  let tokens: Tokens
  let positions: TextPositions
  /// Who made the tokens, and knows their pieces.
  let tokenizer: any TextTokenizer
  private let ownsText: Bool

  /// The most bytes of a question or document.
  static let maxByteCount = Int(Int32.max)

  /// Tokenizes a copy of `text`.
  convenience init(
    copying text: UnsafeBufferPointer<UInt8>, tokenizer: any TextTokenizer
  ) throws(BertQAError) {
    try Self.checkSize(text, "document")
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count)
    _ = copy.initialize(from: text)
    self.init(text: UnsafeBufferPointer(copy), ownsText: true, tokenizer: tokenizer)
  }

  /// Tokenizes `text`, which must stay as it is while the document is in use.
  convenience init(
    borrowing text: UnsafeBufferPointer<UInt8>, tokenizer: any TextTokenizer
  ) throws(BertQAError) {
    try Self.checkSize(text, "document")
    self.init(text: text, ownsText: false, tokenizer: tokenizer)
  }

  private init(text: UnsafeBufferPointer<UInt8>, ownsText: Bool, tokenizer: any TextTokenizer) {
    self.text = text
    self.ownsText = ownsText
    self.tokenizer = tokenizer
    var tokens = Tokens()
    try tokenizer.tokenize(text, parseSpecialTokens: false, into: &tokens, nil)
    self.tokens = tokens
    positions = TextPositions(text)
  }

  deinit {
    if ownsText { text.deallocate() }
  }

  public var byteCount: Int { text.count }
  public var tokenCount: Int { tokens.ids.count }

  static func checkSize(_ text: UnsafeBufferPointer<UInt8>, _ what: String) throws(BertQAError) {
    if text.count <= maxByteCount { return }
    throw BertQAError(
      .tooLarge, "the \(what) has \(text.count) bytes, but at most \(maxByteCount) are allowed: split it")
  }
}
