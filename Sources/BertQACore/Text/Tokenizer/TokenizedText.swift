/// A text and its tokens. The text must outlive it.
struct TokenizedText {
  let text: UnsafeBufferPointer<UInt8>
  let tokens: Tokens
  /// Made the tokens, and knows their pieces.
  let tokenizer: any Tokenizer

  var count: Int { tokens.count }

  /// True if `token` continues the word of the token before it.
  func continuesWord(_ token: Int) -> Bool { tokenizer.continuesWord(token, of: tokens, in: text) }
}

extension TokenizedText {
  init(
    _ text: UnsafeBufferPointer<UInt8>, _ tokenizer: any Tokenizer, _ monitor: CallMonitor
  ) throws(BertQAError) {
    self.init(text: text, tokens: try tokenizer.tokens(of: text, monitor), tokenizer: tokenizer)
  }
}
