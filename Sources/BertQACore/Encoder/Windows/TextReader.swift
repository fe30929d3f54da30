/// Reads texts and pairs of texts of any length through an encoder whose head returns one row of numbers per
/// window.
struct TextReader: Sendable {
  var reader: WindowReader

  /// A text that is put before each text, or before the first of a pair.
  struct Prompt {
    var text: [UInt8] = []
    /// False: the vector of a window omits the prompt's tokens and the special tokens before it.
    var isPooled = true
    /// True: the prompt and the texts are lower-cased.
    var lowercases = false
  }

  /// - Parameters:
  ///   - name: the name of the array of texts in error messages.
  ///   - body: takes a window's numbers, in the order of the texts and of the windows within them. Every text
  ///     has at least one window. An error that it throws is the text's failure.
  ///   - failed: receives a text's failure. An error that it throws ends the call.
  func read(
    _ texts: [TextPair], called name: String = "texts", behind prompt: Prompt = Prompt(),
    giving input: HeadInput? = nil,
    _ layout: WindowLayout, _ call: CallOptions,
    failed: (Int, BertQAError) throws(BertQAError) -> Void,
    _ body: (WindowReader.Output) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let monitor = CallMonitor(call)
    // A text's tokens are copied into the slice before the next text is tokenized.
    var part: MemoryLedger?
    let unpooledCount =
      prompt.isPooled
      ? 0
      : try prompt.prepending(to: UnsafeBufferPointer(start: nil, count: 0), monitor) {
        text throws(BertQAError) in
        try reader.tokenizer.tokens(of: text, nil).count
      }
    try reader.read(count: texts.count, called: name, giving: input, monitor) { index throws(BertQAError) in
      part = nil
      let pair = texts[index]
      try TextLimit.check(pair.text, "text")
      if let second = pair.second { try TextLimit.check(second, "text") }
      let before = monitor.heldBytes
      let item = try monitor.undoing { () throws(BertQAError) in
        try prompt.prepending(to: pair.text, monitor) { text throws(BertQAError) in
          let first = try TokenizedText(text, reader.tokenizer, monitor)
          var second: TokenizedText?
          if let text = pair.second {
            second = try TextReader.Prompt(lowercases: prompt.lowercases).prepending(to: text, monitor) {
              text throws(BertQAError) in try TokenizedText(text, reader.tokenizer, monitor)
            }
          }
          return WindowReader.Item(
            first: first.tokens.ids[...], second: second?.tokens.ids[...],
            windows: try layout.parts(first: first, second: second, monitor), unpooledCount: unpooledCount)
        }
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

extension TextReader.Prompt {
  /// Calls `body` with the prompt and the text after it.
  func prepending<Result>(
    to text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor,
    _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    if lowercases {
      let bytes = 3 * (self.text.count + text.count)
      try Memory.require(bytes)
      try monitor.hold(bytes)
      defer { monitor.release(bytes) }
      let both = String(decoding: self.text, as: UTF8.self) + String(decoding: text, as: UTF8.self)
      return try Array(both.lowercased().utf8).withElements(body)
    }
    if self.text.isEmpty { return try body(text) }
    let count = self.text.count + text.count
    try monitor.hold(count)
    defer { monitor.release(count) }
    let buffer = try AlignedBuffer<UInt8>(uninitializedCount: count)
    let both = UnsafeMutableBufferPointer(start: buffer.base, count: count)
    let end = both.update(fromContentsOf: self.text)
    _ = UnsafeMutableBufferPointer(rebasing: both[end...]).update(fromContentsOf: text)
    return try body(UnsafeBufferPointer(both))
  }
}
