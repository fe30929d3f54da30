import Glibc

/// A document that is tokenized once and answers any number of questions, from any number of threads.
///
/// It works with the context that made it and with others of the same vocabulary and tokenizer settings. It may
/// outlive its context.
public final class PreparedDocument: @unchecked Sendable {
  // Sendable: immutable once initialised.

  let tokenized: TokenizedText
  private let positions: TextPositions
  /// nil: found on demand.
  private let sections: TextSections?
  private let ownsText: Bool
  /// The memory that the document accounts for.
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
        text: UnsafeBufferPointer(copy), ownsText: true, tokenizer: tokenizer, keepsSections: true,
        heldBefore: before, monitor)
    } catch {
      free(copy.baseAddress)
      throw error
    }
  }

  /// Returns a copy that the caller frees.
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

  /// Tokenizes `text`, which must not change while the document is in use.
  /// - Parameter keepsSections: true if more than one question needs them.
  convenience init(
    borrowing text: UnsafeBufferPointer<UInt8>, tokenizer: any Tokenizer, keepsSections: Bool = false,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    try TextLimit.check(text, "document")
    try self.init(
      text: text, ownsText: false, tokenizer: tokenizer, keepsSections: keepsSections,
      heldBefore: monitor.heldBytes,
      monitor)
  }

  /// The maximum number of tokens of a document that may fit in one window of the default length.
  private static let fewTokens = 256

  /// The approximate bytes of a document without tokens, all objects together.
  private static let objectBytes = 512

  private init(
    text: UnsafeBufferPointer<UInt8>, ownsText: Bool, tokenizer: any Tokenizer, keepsSections: Bool,
    heldBefore: Int,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.hold(Self.objectBytes)
    tokenized = try TokenizedText(text, tokenizer, monitor)
    positions = try TextPositions(text, monitor)
    sections =
      keepsSections && tokenized.count > Self.fewTokens ? try TextSections(tokenized, monitor) : nil
    self.ownsText = ownsText
    memory = monitor.part(since: heldBefore)
  }

  deinit {
    if ownsText { free(UnsafeMutableRawPointer(mutating: text.baseAddress)) }
  }

  var text: UnsafeBufferPointer<UInt8> { tokenized.text }
  var tokens: Tokens { tokenized.tokens }
  var tokenizer: any Tokenizer { tokenized.tokenizer }

  public var byteCount: Int { text.count }
  public var tokenCount: Int { tokenized.count }

  /// Returns the windows of the document, at least one.
  /// - Parameter room: the maximum number of its tokens in a window, at least 1.
  func windows(
    room: Int, _ division: WindowLayout.Division, _ monitor: CallMonitor?
  ) throws(BertQAError) -> [TokenWindow] {
    try TokenWindow.layout(tokenized, room: room, division, sections: sections, monitor)
  }

  /// Returns a range of the text in code points and in UTF-16 units.
  func positions(of range: TextRange) -> (codePoints: TextRange, utf16: TextRange) {
    let start = positions.position(ofByte: range.start, in: text)
    let end = positions.position(ofByte: range.end, in: text)
    return (
      TextRange(start: start.codePoint, end: end.codePoint), TextRange(start: start.utf16, end: end.utf16)
    )
  }

  // MARK: - Words

  /// Returns the first token of the word of `token`.
  func firstTokenOfWord(_ token: Int) -> Int {
    var first = token
    while tokenized.continuesWord(first) { first -= 1 }
    return first
  }

  /// Returns the last token of the word of `token`.
  func lastTokenOfWord(_ token: Int) -> Int {
    var last = token
    while last + 1 < tokenCount && tokenized.continuesWord(last + 1) { last += 1 }
    return last
  }

  /// Returns the bytes of the tokens `first` through `last` as readers see them; empty if they are only white space.
  func bytes(ofTokens first: Int, through last: Int) -> TextRange {
    var edges = TextEdges(text: text)
    return edges.visibleRange(ofTokens: first, through: last, of: tokens)
  }
}
