extension SentenceFinder {
  /// If what begins at `position` ends a sentence, where that sentence ends: behind a run of terminators
  /// with its closing marks, or before a blank line. Text from `limit` on is not looked at.
  func sentenceEnd(at position: Int, limit: Int) -> Int? {
    let byte = text[position]
    if byte == UInt8(ascii: "\n") { return isBlankLine(behind: position, limit: limit) ? position : nil }
    if byte < 0x80 && !isTerminator(Unicode.Scalar(byte)) { return nil }
    var end = position
    var isCertain = false
    while end < limit, case let unit = UTF8Unit(text, at: end), isTerminator(unit.scalar) {
      if unit.scalar.value > 0x3000 { isCertain = true }
      end += unit.byteCount
    }
    if end == position { return nil }
    let isSingleDot = byte == UInt8(ascii: ".") && end == position + 1
    while end < limit, case let unit = UTF8Unit(text, at: end), isCloser(unit.scalar) {
      end += unit.byteCount
    }
    if isCertain || end >= limit { return min(end, limit) }
    guard let next = nextCharacter(behindSpaceAt: end, limit: limit) else { return nil }
    if next.properties.isLowercase { return nil }
    return isSingleDot && isAbbreviation(before: position, next: next) ? nil : end
  }

  private func isTerminator(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ".", "!", "?", "…", "。", "！", "？": true
    default: false
    }
  }

  private func isCloser(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case ")", "]", "}", "\"", "'", "”", "’", "»", "」", "』", "）", "】", "〉", "》": true
    default: false
    }
  }

  /// The first character behind the white space at `position`: a line break if there is none; nil if
  /// there is no white space.
  private func nextCharacter(behindSpaceAt position: Int, limit: Int) -> Unicode.Scalar? {
    guard var next = spaceLength(at: position).map({ position + $0 }) else { return nil }
    while next < limit, let space = spaceLength(at: next) { next += space }
    return next < limit ? UTF8Unit(text, at: next).scalar : "\n"
  }

  private func isBlankLine(behind lineBreak: Int, limit: Int) -> Bool {
    var next = lineBreak + 1
    while next < limit, text[next] != UInt8(ascii: "\n") {
      guard isWhiteSpace(text[next]) else { return false }
      next += 1
    }
    return next < limit
  }
}
