/// Cuts texts into the passages of a collection: sections that end where paragraphs and sentences do.
enum PassageLayout {
  /// The maximum number of tokens in a passage.
  static let tokenCount = 128

  /// Returns ranges of bytes, in order, without white space at their ends or the text's byte order mark. They overlap
  /// only inside a sentence that is longer than a passage. A text without tokens has none.
  static func passages(
    of text: TokenizedText, _ monitor: CallMonitor
  ) throws(BertQAError) -> [TextRange] {
    guard text.count > 0 else { return [] }
    let windows = try TokenWindow.layout(
      text, room: tokenCount, .sections(overlap: WindowLayout.defaultOverlap(length: tokenCount)),
      sections: nil,
      monitor)
    return try windows.checkedMap(CallPoll(monitor)) { window in
      range(
        of: window, in: text, isFirst: window.index == 0,
        next: window.index + 1 < windows.count
          ? windows[window.index + 1] : nil)
    }
  }

  /// Bytes that no token covers belong to the passage before them.
  private static func range(
    of window: TokenWindow, in text: TokenizedText, isFirst: Bool, next: TokenWindow?
  ) -> TextRange {
    let tokens = text.tokens
    var start = isFirst ? text.text.byteOrderMarkSize : Int(tokens.starts[window.firstToken])
    var end = Int(tokens.ends[window.endToken - 1])
    if let next {
      if next.firstToken >= window.endToken { end = Int(tokens.starts[next.firstToken]) }
    } else {
      end = text.text.count
    }
    start = min(start, end)
    while end > start, isWhiteSpace(text.text[end - 1]) { end -= 1 }
    while start < end, isWhiteSpace(text.text[start]) { start += 1 }
    return TextRange(start: start, end: end)
  }
}
