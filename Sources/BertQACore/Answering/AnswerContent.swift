/// Tells answers from punctuation.
enum AnswerContent {
  /// True if these bytes contain a letter, a number or a symbol with a meaning.
  static func isPresent(
    in range: TextRange, of text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) -> Bool {
    var position = range.start
    var poll = TextPoll(monitor, from: position)
    while position < range.end {
      try poll.reach(position)
      let unit = UTF8Codec.decode(text, at: position)
      if isContent(unit) { return true }
      position += unit.size
    }
    return false
  }

  /// True for ASCII letters, digits and `$`, and for all other characters except punctuation, marks, modifiers, white
  /// space, controls, box drawing, and U+FFFD, which stands for invalid bytes. Currency signs, `°`, `±` and emoji are
  /// content.
  private static func isContent(_ unit: DecodedScalar) -> Bool {
    if unit.scalar < 0x80 {
      let byte = UInt8(unit.scalar)
      return TextBytes.isLetter(byte) || TextBytes.isDigit(byte) || byte == UInt8(ascii: "$")
    }
    if unit.scalar == 0xFFFD || LineMarks.isBoxDrawing(unit.scalar) { return false }
    switch unit.unicodeScalar.properties.generalCategory {
    case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
      .finalPunctuation, .otherPunctuation, .nonspacingMark, .spacingMark, .enclosingMark, .modifierSymbol,
      .spaceSeparator, .lineSeparator, .paragraphSeparator, .control, .format, .surrogate:
      return false
    default: return true
    }
  }
}
