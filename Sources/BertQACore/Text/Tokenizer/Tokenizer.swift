/// Turns text into ids of a model's vocabulary. Immutable: any number of threads may use one.
///
/// A new kind is a conformance in a folder of its own beside `WordPiece/`, and a case of the factory, `TokenizerFiles`.
protocol Tokenizer: AnyObject, Sendable {
  /// How special tokens frame a text or a pair of texts.
  var template: Template { get }
  /// Ids, duplicates included.
  var vocabularySize: Int { get }
  /// Whether upper and lower case are the same to it.
  var lowercases: Bool { get }

  /// Replaces `tokens` by those of `text`, without special tokens around them, in order: starts and ends never
  /// decrease. Invalid UTF-8 is read as U+FFFD, by maximal subparts. Time: linear in the text.
  /// - Parameters:
  ///   - parseSpecialTokens: whether the strings of special tokens in the text become those tokens.
  ///   - monitor: asked at least every 64 KiB of text; the memory of `tokens` is accounted to it.
  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError)

  /// The vocabulary's entry as it is spelled there, followed by a NUL; empty outside the vocabulary.
  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8>

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32?

  /// Whether a piece goes on with the word of the piece before it by its spelling, such as `##ing`, where the text has
  /// nothing but dropped characters between the two.
  func continuesWord(_ id: Int32) -> Bool

  /// Whether a piece says nothing of what a question is after: special, unknown, or punctuation.
  func isUninformative(_ id: Int32) -> Bool

  /// Whether `other` gives the same ids and ranges for every text.
  func agrees(with other: any Tokenizer) -> Bool
}

extension Tokenizer {
  /// The tokens of one text. Their memory stays accounted to the monitor; that of the work does not.
  func tokens(
    of text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool = false, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Tokens {
    var tokens = Tokens()
    guard let monitor else {
      try tokenize(text, parseSpecialTokens: parseSpecialTokens, into: &tokens, nil)
      return tokens
    }
    let before = monitor.heldBytes
    do throws(BertQAError) {
      try tokenize(text, parseSpecialTokens: parseSpecialTokens, into: &tokens, monitor)
    } catch {
      monitor.release(monitor.heldBytes - before)
      throw error
    }
    monitor.release(monitor.heldBytes - before - tokens.capacityBytes)
    return tokens
  }

  /// Whether `token` goes on with the word of the token before it: by its spelling, or because the letters of both are
  /// one word of the text. Characters that normalisation dropped may lie between the two, but no white space, even
  /// where the vocabulary has pieces that continue across it.
  func continuesWord(
    _ token: Int, of tokens: Tokens, in text: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard token > 0 else { return false }
    let (end, start) = (Int(tokens.ends[token - 1]), Int(tokens.starts[token]))
    guard continuesWord(tokens.ids[token]) else {
      return TextEdges(text: text).isOneWord(from: end, through: start)
    }
    var byte = end
    while byte < start {
      if isWhiteSpace(text[byte]) { return false }
      byte += 1
    }
    return true
  }
}
