import Glibc

/// A document tokenized once, to be asked any number of questions from any number of threads.
///
/// It may be used with the context that made it, which it outlives, and with others of the same vocabulary
/// and tokenizer settings.
public final class PreparedDocument: @unchecked Sendable {
  // Sendable: immutable once initialised.

  let text: UnsafeBufferPointer<UInt8>
  let tokens: Tokens
  /// Who made the tokens, and knows their pieces.
  let tokenizer: any Tokenizer
  private let positions: TextPositions
  private let ownsText: Bool
  /// What is accounted to the document.
  private let memory: MemoryLedger

  /// Tokenizes a copy of `text`.
  convenience init(
    copying text: UnsafeBufferPointer<UInt8>, tokenizer: any Tokenizer, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "document")
    let before = monitor.heldBytes
    try monitor.hold(text.count)
    let copy = try Self.copy(text, monitor)
    do throws(BertQAError) {
      try self.init(
        text: UnsafeBufferPointer(copy), ownsText: true, tokenizer: tokenizer, heldBefore: before, monitor)
    } catch {
      free(copy.baseAddress)
      throw error
    }
  }

  /// To be freed.
  private static func copy(
    _ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) -> UnsafeMutableBufferPointer<UInt8> {
    guard let source = text.baseAddress, text.count > 0 else { return .init(start: nil, count: 0) }
    try Memory.require(text.count)
    guard let target = malloc(text.count) else {
      throw BertQAError(.outOfMemory, "no memory for a copy of \(text.count) bytes")
    }
    let bytes = target.bindMemory(to: UInt8.self, capacity: text.count)
    do throws(BertQAError) {
      try bytes.update(from: source, count: text.count, monitor)
    } catch {
      free(target)
      throw error
    }
    return UnsafeMutableBufferPointer(start: bytes, count: text.count)
  }

  /// Tokenizes `text`, which must stay as it is while the document is in use.
  convenience init(
    borrowing text: UnsafeBufferPointer<UInt8>, tokenizer: any Tokenizer, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "document")
    try self.init(
      text: text, ownsText: false, tokenizer: tokenizer, heldBefore: monitor.heldBytes, monitor)
  }

  private init(
    text: UnsafeBufferPointer<UInt8>, ownsText: Bool, tokenizer: any Tokenizer, heldBefore: Int,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    tokens = try tokenizer.tokens(of: text, monitor)
    positions = try TextPositions(text, monitor)
    self.text = text
    self.ownsText = ownsText
    self.tokenizer = tokenizer
    memory = monitor.part(since: heldBefore)
  }

  deinit {
    if ownsText { free(UnsafeMutableRawPointer(mutating: text.baseAddress)) }
  }

  public var byteCount: Int { text.count }
  public var tokenCount: Int { tokens.ids.count }

  /// The text's range in all three units.
  func positions(of range: TextRange) -> (codePoints: TextRange, utf16: TextRange) {
    let start = positions.position(ofByte: range.start, in: text)
    let end = positions.position(ofByte: range.end, in: text)
    return (
      TextRange(start: start.codePoint, end: end.codePoint), TextRange(start: start.utf16, end: end.utf16)
    )
  }

  // MARK: - Words

  /// The first token of the word of `token`: a first piece with the pieces behind it that continue it.
  func firstTokenOfWord(_ token: Int) -> Int {
    var first = token
    while continuesWord(first) { first -= 1 }
    return first
  }

  /// The last token of the word of `token`.
  func lastTokenOfWord(_ token: Int) -> Int {
    var last = token
    while last + 1 < tokenCount && continuesWord(last + 1) { last += 1 }
    return last
  }

  private func continuesWord(_ token: Int) -> Bool {
    tokenizer.continuesWord(token, of: tokens, in: text)
  }

  /// The bytes of the tokens `first` through `last` as readers see them; none if they are white space alone.
  func bytes(ofTokens first: Int, through last: Int) -> TextRange {
    var edges = TextEdges(text: text)
    return edges.visibleRange(ofTokens: first, through: last, of: tokens)
  }
}
