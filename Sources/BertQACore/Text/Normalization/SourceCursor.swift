/// Attributes the characters that a normalizer writes to the text it read, as tokenizers does: its normalizers tell
/// for each character only how many of the text it stands for, and a place in the text goes along.
///
/// The change is 0 for a character that stands for the next one of the text, -n for one that stands for it and the n
/// behind it, and positive for one that was put in and shares the range of what precedes.
struct SourceCursor {
  /// The next character of the text.
  var position = 0

  mutating func take(_ change: Int, _ text: borrowing NormalizedText) -> SourceRange {
    if change > 0 || position >= text.count {
      return position > 0
        ? text.source(of: position - 1)
        : SourceRange(
          start: UInt32(truncatingIfNeeded: text.begin), end: UInt32(truncatingIfNeeded: text.begin))
    }
    let source = text.source(of: position)
    for _ in 0...(-change) where position < text.count { position = text.characterEnd(position + 1) }
    return source
  }
}
