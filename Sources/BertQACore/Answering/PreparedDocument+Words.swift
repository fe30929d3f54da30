extension PreparedDocument {
  /// The first token of the word of `token`: a first piece with the `##` pieces behind it.
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

  /// Whether `token` goes on with the word of the token before it. Characters that normalisation dropped
  /// may stand between the two, but no white space, whatever the vocabulary calls its pieces.
  private func continuesWord(_ token: Int) -> Bool {
    guard token > 0, tokenizer.isContinuation(tokens.ids[token]) else { return false }
    var byte = Int(tokens.ends[token - 1])
    while byte < Int(tokens.starts[token]) {
      if isWhiteSpace(text[byte]) { return false }
      byte += 1
    }
    return true
  }

  /// The bytes of the tokens `first` through `last`.
  func bytes(ofTokens first: Int, through last: Int) -> TextRange {
    TextRange(start: Int(tokens.starts[first]), end: Int(tokens.ends[last]))
  }

  /// The text's range in all three units.
  func positions(of range: TextRange) -> (codePoints: TextRange, utf16: TextRange) {
    let start = positions.position(ofByte: range.start, in: text)
    let end = positions.position(ofByte: range.end, in: text)
    return (
      TextRange(start: start.codePoint, end: end.codePoint), TextRange(start: start.utf16, end: end.utf16)
    )
  }
}

/// ASCII white space.
@inline(__always)
func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }
