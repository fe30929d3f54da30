/// Reads texts of any number and length through an encoder, in windows. Immutable.
struct TextReader: Sendable {
  let tokenizer: WordPieceTokenizer
  let encoder: Encoder
  /// The encoder is called once this many tokens or windows have come together: bounds the memory of a
  /// call. Results do not depend on it.
  var sliceTokens = 65_536
  var sliceWindows = 4096

  /// A window that was read.
  struct Part {
    /// Index of its text among those of the call.
    var text: Int
    var tokenCount: Int
    var isLastOfText: Bool
  }

  /// Calls `body` with the vectors of some windows at a time, [parts][hidden], in the order of the texts
  /// and of the windows within them. Every text has a window at least.
  /// - Parameter name: what error messages call the array of the texts.
  func read(
    _ texts: [TextPair], called name: String = "texts", _ kind: WindowVector, _ windows: TextWindows,
    cancellation: Cancellation?,
    _ body: ([Part], UnsafePointer<Float>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var batch = WindowBatch()
    var parts: [Part] = []
    func runSlice() throws(BertQAError) {
      if let cancellation, cancellation.isCancelled() {
        throw BertQAError(.cancelled, "cancelled by the caller's hook")
      }
      let vectors = try encoder.vectors(kind, of: batch, cancellation: cancellation)
      try vectors.withUnsafeBufferPointer { vectors throws(BertQAError) in
        if let base = vectors.baseAddress { try body(parts, base) }
      }
      batch.ids.removeAll(keepingCapacity: true)
      batch.windows.removeAll(keepingCapacity: true)
      parts.removeAll(keepingCapacity: true)
    }
    var first = Tokens()
    var second = Tokens()
    for (index, text) in texts.enumerated() {
      let layout: [TextWindows.Parts]
      do throws(BertQAError) {
        try tokenize(text.text, into: &first)
        if let text = text.second { try tokenize(text, into: &second) }
        layout = try windows.layout(
          first: first.count, second: text.second == nil ? nil : second.count)
      } catch {
        if texts.count == 1 { throw error }
        throw BertQAError(error.status, "\(name)[\(index)]: \(error.message)")
      }
      for (number, window) in layout.enumerated() {
        let tokenCount = append(
          first.ids[window.first], window.second.map { second.ids[$0] }, to: &batch)
        parts.append(
          Part(text: index, tokenCount: tokenCount, isLastOfText: number == layout.count - 1))
        if batch.ids.count >= sliceTokens || parts.count >= sliceWindows { try runSlice() }
      }
    }
    if !parts.isEmpty { try runSlice() }
  }

  private func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, into tokens: inout Tokens
  ) throws(BertQAError) {
    try PreparedDocument.checkSize(text, "text")
    try tokenizer.tokenize(text, parseSpecialTokens: false, into: &tokens, nil)
  }

  /// Returns the window's number of tokens.
  private func append(
    _ first: ArraySlice<Int32>, _ second: ArraySlice<Int32>?, to batch: inout WindowBatch
  ) -> Int {
    let firstToken = batch.ids.count
    batch.ids.append(tokenizer.clsID)
    batch.ids += first
    batch.ids.append(tokenizer.sepID)
    let secondSegment = batch.ids.count - firstToken
    if let second {
      batch.ids += second
      batch.ids.append(tokenizer.sepID)
    }
    let tokenCount = batch.ids.count - firstToken
    batch.windows.append(
      Window(firstToken: firstToken, tokenCount: tokenCount, secondSegment: secondSegment))
    return tokenCount
  }
}
