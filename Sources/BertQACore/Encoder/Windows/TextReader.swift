/// Reads texts and pairs of texts of any length through an encoder whose head gives one row of numbers per window.
struct TextReader: Sendable {
  var reader: WindowReader

  /// - Parameters:
  ///   - name: what error messages call the array of the texts.
  ///   - body: takes a window's numbers, in the order of the texts and of the windows within them. Every text has
  ///     a window at least. What it throws is the text's failure.
  ///   - failed: told of a text's failure; what it throws ends the call.
  func read(
    _ texts: [TextPair], called name: String = "texts", giving input: HeadInput? = nil,
    _ layout: WindowLayout, _ call: CallOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (WindowReader.Output) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let monitor = CallMonitor(call)
    // A text's tokens are copied into the slice before the next text's are made.
    var first = Tokens()
    var second = Tokens()
    var heldBytes = 0
    func tokenize(
      _ text: UnsafeBufferPointer<UInt8>, into tokens: inout Tokens
    ) throws(BertQAError) {
      try TextLimit.check(text, "text")
      try reader.tokenizer.tokenize(text, parseSpecialTokens: false, into: &tokens, monitor)
    }
    try reader.read(count: texts.count, giving: input, monitor) { index throws(BertQAError) in
      monitor.release(heldBytes)
      let before = monitor.heldBytes
      defer { heldBytes = monitor.heldBytes - before }
      try tokenize(texts[index].text, into: &first)
      var secondIDs: ArraySlice<Int32>?
      if let text = texts[index].second {
        try tokenize(text, into: &second)
        secondIDs = second.ids[...]
      }
      return WindowReader.Item(
        first: first.ids[...], second: secondIDs,
        windows: try layout.parts(first: first.count, second: secondIDs?.count, monitor))
    } failed: { index, error throws(BertQAError) in
      heldBytes = 0
      try failed(index, texts.count == 1 ? error : error.of(item: index, in: name))
    } deliver: { output throws(BertQAError) in
      try body(output)
    }
  }
}
