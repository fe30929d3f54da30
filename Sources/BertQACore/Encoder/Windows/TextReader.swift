/// Reads texts and pairs of texts of any length through an encoder whose head returns one row of numbers per
/// window.
struct TextReader: Sendable {
  var reader: WindowReader

  /// - Parameters:
  ///   - name: the name of the array of texts in error messages.
  ///   - body: takes a window's numbers, in the order of the texts and of the windows within them. Every text
  ///     has at least one window. An error that it throws is the text's failure.
  ///   - failed: receives a text's failure. An error that it throws ends the call.
  func read(
    _ texts: [TextPair], called name: String = "texts", giving input: HeadInput? = nil,
    _ layout: WindowLayout, _ call: CallOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (WindowReader.Output) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let monitor = CallMonitor(call)
    // A text's tokens are copied into the slice before the next text is tokenized.
    var part: MemoryLedger?
    func tokenized(_ text: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> TokenizedText {
      try TextLimit.check(text, "text")
      return TokenizedText(
        text: text, tokens: try reader.tokenizer.tokens(of: text, monitor), tokenizer: reader.tokenizer)
    }
    try reader.read(count: texts.count, called: name, giving: input, monitor) { index throws(BertQAError) in
      part = nil
      let before = monitor.heldBytes
      let item = try monitor.undoing { () throws(BertQAError) in
        let first = try tokenized(texts[index].text)
        var second: TokenizedText?
        if let text = texts[index].second { second = try tokenized(text) }
        return WindowReader.Item(
          first: first.tokens.ids[...], second: second?.tokens.ids[...],
          windows: try layout.parts(first: first, second: second, monitor))
      }
      part = monitor.part(since: before)
      return item
    } failed: { index, error throws(BertQAError) in
      try failed(index, error)
    } deliver: { output throws(BertQAError) in
      try body(output)
    }
    withExtendedLifetime(part) {}
  }
}
