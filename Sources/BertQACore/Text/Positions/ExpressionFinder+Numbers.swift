/// Numbers: `-1,200.50`, `12:30`, `1/2`, `$5 million`, `37.5 °C`, `60 km/h`, `7 p.m.`
extension ExpressionFinder {
  /// The maximum distance of a number's beginning from a cut, and the maximum bytes of one.
  private static let reach = 48
  private static let longest = 96

  func number(across cut: Int) -> Range<Int>? {
    // The cut may separate digits from the signs before them, or a unit from its digits.
    var position = cut
    let low = max(0, cut - Self.reach)
    while position < cut + 5, !text.isDigit(position), text[position] > 0x20 { position += 1 }
    if let sign = scalar(before: position), isCurrency(sign), let space = space(at: position) {
      position += space
    }
    var words = 0
    while position >= low, words < 3 {
      if text.isDigit(position) {
        guard let range = number(at: position) else { return nil }
        if Self.isInside(cut, range) { return range }
        if range.upperBound <= cut { return nil }
        position = range.lowerBound
      } else if position < cut, isBlank(text[position]) {
        words += 1
      }
      position -= 1
    }
    return nil
  }

  /// Returns the number that a digit belongs to, with the signs and units around it.
  private func number(at digit: Int) -> Range<Int>? {
    var (begin, end) = (digit, digit + 1)
    while let size = size(before: begin, partSize) {
      begin -= size
      if end - begin > Self.longest { return nil }
    }
    while let size = partSize(at: end) {
      end += size
      if end - begin > Self.longest { return nil }
    }
    guard text.isDigit(begin) else { return begin..<end }
    begin = beginWithSigns(begin)
    end = endWithSigns(end)
    if let scale = endOfWord(behindSpaceAt: end, among: Self.scales) { end = scale }
    if let unit = endOfWord(behindSpaceAt: end, among: Self.units) { end = unit }
    return begin..<end
  }

  // MARK: - Digits

  /// Returns the size of the character that continues a number at a place: a letter or digit, or a mark between two
  /// digits.
  private func partSize(at position: Int) -> Int? {
    if text.isAlphanumeric(position) { return 1 }
    if let size = space(at: position), size > 1 {
      return text.isDigit(position - 1) && areThreeDigits(at: position + size) ? size : nil
    }
    let letter = text.nameLetter(at: position)
    if letter > 0 { return letter }
    let superscript = superscriptSize(at: position)
    if superscript > 0 { return superscript }
    return isJoint(position) ? 1 : nil
  }

  /// True if a mark joins the digits around it into one number; false for a dash, which makes a range.
  private func isJoint(_ position: Int) -> Bool {
    guard text.isDigit(position - 1), text.isDigit(position + 1) else { return false }
    switch text[position] {
    case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "'"): return true
    case UInt8(ascii: ","): return joinsDigits(commaAt: position)
    // 1/2 and 31/12/2026, but not the season 2025/26.
    case UInt8(ascii: "/"): return !text.isDigit(position - 3) || !text.isDigit(position - 2)
    default: return false
    }
  }

  /// True in `1,234`, `1,50,000` and `12,5`; false between the cells of a table: `12.50,3,2024-01-05`.
  private func joinsDigits(commaAt position: Int) -> Bool {
    func hasDigit(behind marks: StaticString, at place: Int, _ step: Int) -> Bool {
      text.isDigit(place + step) && marks.withUTF8Buffer { $0.contains(text[place]) }
    }
    if areThreeDigits(at: position + 1) { return true }
    var end = position + 1
    while text.isDigit(end), end - position < 32 { end += 1 }
    var group = position
    while hasDigit(behind: ",", at: group, 1), group - position < 32, text.isDigit(group + 2),
      !text.isDigit(group + 3)
    {
      group += 3
    }
    if group > position, hasDigit(behind: ",", at: group, 1) { return areThreeDigits(at: group + 1) }
    var begin = position
    while text.isDigit(begin - 1), position - begin < 32 { begin -= 1 }
    if hasDigit(behind: ",.:/-", at: end, 1) || hasDigit(behind: ",:/-", at: begin - 1, -1) { return false }
    if hasDigit(behind: ".", at: begin - 1, -1) { return position - begin == 3 }
    return !TextBytes.isLetter(text[begin - 1])
  }

  /// Digits may be grouped by narrow spaces and by those that do not break.
  private func areThreeDigits(at position: Int) -> Bool {
    (0..<3).allSatisfy { text.isDigit(position + $0) } && !text.isDigit(position + 3)
  }

  /// Returns the size of `²`, `⁹`, `⁻` and others; 0 for any other character.
  private func superscriptSize(at position: Int) -> Int {
    guard let mark = scalar(at: position) else { return 0 }
    switch mark.scalar {
    case 0xB2, 0xB3, 0xB9, 0x2070, 0x2074...0x207B: return mark.size
    default: return 0
    }
  }

  // MARK: - Signs

  private func scalar(at position: Int) -> DecodedScalar? {
    guard position >= 0, position < text.count else { return nil }
    return UTF8Codec.decode(text.bytes, at: position)
  }

  private func scalar(before position: Int) -> DecodedScalar? {
    guard position > 0, let base = text.bytes.baseAddress else { return nil }
    return UTF8Codec.decodeBackwards(base, before: position, begin: max(0, position - 4))
  }

  /// Returns the beginning of a number with the currency and sign before its digits: `-$5`, `US$5`.
  private func beginWithSigns(_ begin: Int) -> Int {
    var begin = begin
    let close = beforeSpace(begin)
    if let currency = scalar(before: close), isCurrency(currency),
      close == begin || !endsAmount(close - currency.size)
    {
      begin = close - currency.size
      var letters = begin
      while letters > 0, TextBytes.isLetter(text[letters - 1]), text[letters - 1] & 0x20 == 0,
        begin - letters < 3
      {
        letters -= 1
      }
      if !text.isWordByte(letters - 1) { begin = letters }
    }
    guard let sign = scalar(before: begin), ["-", "+", "−", "±"].contains(sign.unicodeScalar) else {
      return begin
    }
    // Between two numbers or words it is a dash.
    let before = scalar(before: begin - sign.size)?.unicodeScalar
    let isSign = before.map { $0.properties.isWhitespace || "([{\"'“‘=:".unicodeScalars.contains($0) } ?? true
    return isSign ? begin - sign.size : begin
  }

  /// True if the sign of a currency at a place belongs to digits before it: `20 €`.
  private func endsAmount(_ sign: Int) -> Bool {
    text.isDigit(beforeSpace(sign) - 1)
  }

  /// Returns the place before the space that ends at a position; the position itself if none does.
  private func beforeSpace(_ position: Int) -> Int { position - (size(before: position, space) ?? 0) }

  /// Returns the end of a number with the sign at its digits: `50%`, `37°C`, `5€`.
  private func endWithSigns(_ end: Int) -> Int {
    guard let sign = scalar(at: end) else { return end }
    switch sign.unicodeScalar {
    case "%", "‰", "′", "″", "℃", "℉": return end + sign.size
    case "°":
      let letter = text[end + sign.size]
      let hasScale = [UInt8(ascii: "C"), UInt8(ascii: "F")].contains(letter)
      let isWord = text.isWordByte(end + sign.size + 1)
      return end + sign.size + (hasScale && !isWord ? 1 : 0)
    default: return isCurrency(sign) ? end + sign.size : end
    }
  }

  private func isCurrency(_ unit: DecodedScalar) -> Bool {
    unit.unicodeScalar.properties.generalCategory == .currencySymbol
  }

  // MARK: - Units

  private static let scales = [[UInt8]](words: "hundred thousand million billion trillion bn")

  /// Signs of units, longer ones before their prefixes; no words, which are answers by themselves.
  private static let units = [[UInt8]](
    words: """
      km/h km² km2 km kg kWh kW kHz kB cm² cm mm² mm mg ml ms mph m/s m² m³ MHz MWh MW MB GHz GWh GW GB TWh TB \
      Hz Wh ft lbs lb oz a.m. p.m. am pm AM PM A.M. P.M. °C °F ° % € £ $ ¥ m
      """)

  /// Returns the end of a word of the list after one space, or after a line break that ends no sentence.
  private func endOfWord(behindSpaceAt position: Int, among words: [[UInt8]]) -> Int? {
    let space = space(at: position) ?? lineBreakSize(at: position)
    let start = position + space
    guard space > 0 else { return nil }
    for word in words {
      let end = start + word.count
      let isThere = word.indices.allSatisfy { text[start + $0] == word[$0] }
      if isThere, !text.isWordByte(end), text.nameLetter(at: end) == 0, superscriptSize(at: end) == 0 {
        return SentenceFinder(text: text.bytes).hasBoundary(in: position..<start) ? nil : end
      }
    }
    return nil
  }

  /// Returns the size of a space, of which some are narrow or do not break.
  private func space(at position: Int) -> Int? {
    if text[position] == UInt8(ascii: " ") { return 1 }
    switch scalar(at: position)?.unicodeScalar {
    case "\u{A0}": return 2
    case "\u{2009}", "\u{202F}": return 3
    default: return nil
    }
  }
}
