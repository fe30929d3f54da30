/// Converts text to ids of a model's vocabulary. Immutable: any number of threads may use one.
///
/// `TokenizerFiles` makes one from files.
protocol Tokenizer: AnyObject, Sendable {
  /// The special tokens around a text or a pair of texts.
  var template: Template { get }
  /// The number of ids, including duplicates.
  var vocabularySize: Int { get }
  /// True if it ignores case.
  var lowercases: Bool { get }

  /// Replaces `tokens` by those of `text`, without special tokens around them, in order: starts and ends never
  /// decrease. Invalid UTF-8 is read as U+FFFD, by maximal subparts. Time: linear in the text.
  /// - Parameters:
  ///   - parseSpecialTokens: true if special tokens spelled in the text become those tokens.
  ///   - monitor: polled at least every 64 KiB of text; charged for the memory of `tokens`.
  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError)

  /// Returns the spelling of an id, followed by a NUL; empty outside the vocabulary.
  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8>

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32?

  /// True if a piece continues the word of the piece before it by its spelling, such as `##ing`, when only dropped
  /// characters are between the two.
  func continuesWord(_ id: Int32) -> Bool

  /// True if `other` returns the same ids and ranges for every text.
  func agrees(with other: any Tokenizer) -> Bool
}

extension Tokenizer {
  func id(spelled piece: String) -> Int32? { Array(piece.utf8).withUnsafeBufferPointer(id) }

  /// Returns the tokens of one text. Their memory remains charged to the monitor; that of the work does not.
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

  /// True if `token` continues the word of the token before it: by its spelling, or because the letters of both are
  /// one word of the text. Dropped characters may be between the two, but no white space, even if the vocabulary has
  /// pieces that continue across it.
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
