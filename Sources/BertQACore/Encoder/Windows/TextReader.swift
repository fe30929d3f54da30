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
    func tokens(of text: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> ArraySlice<Int32> {
      try TextLimit.check(text, "text")
      return try reader.tokenizer.tokens(of: text, monitor).ids[...]
    }
    try reader.read(count: texts.count, called: name, giving: input, monitor) { index throws(BertQAError) in
      part = nil
      let before = monitor.heldBytes
      let item = try monitor.undoing { () throws(BertQAError) in
        let first = try tokens(of: texts[index].text)
        var second: ArraySlice<Int32>?
        if let text = texts[index].second { second = try tokens(of: text) }
        return WindowReader.Item(
          first: first, second: second,
          windows: try layout.parts(first: first.count, second: second?.count, monitor))
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
