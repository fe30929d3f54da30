/// Finds expressions that an answer must not cut, by rules: e-mail and web addresses, dates, paths and names of
/// computing, numbers with their signs and units, and abbreviations with their dots.
///
/// Every rule reads a bounded number of bytes around the cut and ignores longer expressions.
struct ExpressionFinder {
  let text: TextBytes

  /// The maximum bytes of a web address.
  private static let longestURL = 2048

  /// Returns the range extended to the expressions that its edges cut. O(1).
  func extended(_ range: TextRange) -> TextRange {
    let first = expression(across: range.start)
    let last = expression(across: range.end)
    return TextRange(
      start: min(range.start, first?.lowerBound ?? range.start),
      end: max(range.end, last?.upperBound ?? range.end))
  }

  /// Returns the expression that lies on both sides of a place.
  private func expression(across cut: Int) -> Range<Int>? {
    guard cut > 0, cut < text.count else { return nil }
    // In two parts for Swift 6.0's type checker.
    if let found = url(across: cut) ?? email(across: cut) ?? date(across: cut) ?? identifier(across: cut) {
      return found
    }
    return name(across: cut) ?? number(across: cut) ?? abbreviation(across: cut) ?? option(across: cut)
      ?? hyphenated(across: cut)
  }

  static func isInside(_ cut: Int, _ range: Range<Int>) -> Bool {
    range.lowerBound < cut && cut < range.upperBound
  }

  /// Returns the size of the character that ends before a place, if `sizeAt` gives it a size.
  func size(before position: Int, _ sizeAt: (Int) -> Int?) -> Int? {
    guard position > 0 else { return nil }
    for size in 1...min(4, position) where text[position - size] & 0xC0 != 0x80 {
      return sizeAt(position - size) == size ? size : nil
    }
    return nil
  }

  // MARK: - Addresses

  /// Returns the first expression that begins in the run of characters without white space before the cut.
  private func url(across cut: Int) -> Range<Int>? {
    let low = max(0, cut - Self.longestURL)
    var begin = cut
    while begin > low, text[begin - 1] > 0x20 { begin -= 1 }
    // The rules see no more of a long address than this.
    let part = TextBytes(
      bytes: UnsafeBufferPointer(rebasing: text.bytes[begin..<min(text.count, cut + Self.longestURL)]))
    var position = 0
    while position < cut - begin {
      guard let range = url(at: position, of: part) else {
        position += 1
        continue
      }
      if Self.isInside(cut - begin, range) {
        return range.count <= Self.longestURL ? begin + range.lowerBound..<begin + range.upperBound : nil
      }
      position = range.upperBound
    }
    return nil
  }

  private func url(at position: Int, of part: TextBytes) -> Range<Int>? {
    guard !part.isWordByte(position - 1) else { return nil }
    return part.url(at: position) ?? host(at: position, of: part)
  }

  /// Matches a name such as `example.org/path` without `www.`: with one of a few top-level domains that are not
  /// words, so that a full stop without a space after it does not make a name.
  private func host(at position: Int, of part: TextBytes) -> Range<Int>? {
    guard part.isAlphanumeric(position), !Self.isAddressByte(part[position - 1]),
      let end = part.domain(at: position)
    else { return nil }
    let last = part.bytes[position..<end].split(separator: UInt8(ascii: ".")).last ?? []
    guard Self.topLevelDomains.contains(String(decoding: last, as: UTF8.self)) else { return nil }
    return position..<(part[end] == UInt8(ascii: "/") ? part.urlEnd(from: end) : end)
  }

  private static let topLevelDomains = Set(words: "com org net edu gov mil info io uk eu de fr jp cn ru")

  /// Returns one of the addresses whose @ is next to the cut or in the run of their characters around it.
  private func email(across cut: Int) -> Range<Int>? {
    for at in [signBefore(cut), signBehind(cut)] {
      if let at, let range = text.email(around: at), Self.isInside(cut, range) { return range }
    }
    return nil
  }

  /// RFC 5321's longest domain, in bytes.
  private static let longestDomain = 255

  private func signBefore(_ cut: Int) -> Int? {
    var position = cut
    while position > max(0, cut - Self.longestDomain), Self.isAddressByte(text[position - 1]) {
      position -= 1
      if text[position] == UInt8(ascii: "@") { return position }
    }
    return nil
  }

  private func signBehind(_ cut: Int) -> Int? {
    var position = cut
    while position < cut + TextBytes.longestLocalPart, Self.isAddressByte(text[position]) {
      if text[position] == UInt8(ascii: "@") { return position }
      position += 1
    }
    return nil
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    if TextBytes.isLetter(byte) || TextBytes.isDigit(byte) || byte >= 0x80 { return true }
    switch byte {
    case UInt8(ascii: "@"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"),
      UInt8(ascii: "%"), UInt8(ascii: "'"):
      return true
    default: return false
    }
  }

  // MARK: - Numbers of accounts and telephones

  /// No IBAN or telephone number is longer as written.
  private static let longestIdentifier = 48

  /// Matches IBANs, and telephone numbers with a plus sign, an area code in brackets or a word such as "Tel." before.
  private func identifier(across cut: Int) -> Range<Int>? {
    let phones = PhoneFinder(text: text, regions: [])
    for start in max(0, cut - Self.longestIdentifier)..<cut where !text.isWordByte(start - 1) {
      let isMarked = text[start] == UInt8(ascii: "+") || text[start] == UInt8(ascii: "(")
      let isPhone = isMarked || text.isDigit(start) && PhoneContext(text, before: start).isPhone
      if let range = isPhone ? phones.range(at: start, behind: 0, nil) : text.iban(at: start),
        Self.isInside(cut, range)
      {
        return range
      }
    }
    return nil
  }

  // MARK: - Abbreviations

  private static let longestAbbreviation = 16

  /// Matches letters with dots between them and after the last one (`U.S.`, `e.g.`, `Ph.D.`), and a few words with
  /// the dot after them (`Inc.`, `Dr.`).
  private func abbreviation(across cut: Int) -> Range<Int>? {
    var (begin, end) = (cut, cut)
    while begin > 0, isAbbreviationByte(text[begin - 1]) {
      begin -= 1
      if cut - begin > Self.longestAbbreviation { return nil }
    }
    while isAbbreviationByte(text[end]) {
      end += 1
      if end - begin > Self.longestAbbreviation { return nil }
    }
    guard begin < cut, cut < end, !text.isWordByte(begin - 1), !text.isWordByte(end) else { return nil }
    var parts = text.bytes[begin..<end].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if parts.last?.isEmpty == true { parts.removeLast() }
    if parts.count > 1 {
      let isDotted = parts.allSatisfy { (1...2).contains($0.count) } && parts.contains { $0.count == 1 }
      return isDotted ? begin..<end : nil
    }
    guard let word = parts.first, word.count + 1 == end - begin else { return nil }
    let name = String(decoding: word, as: UTF8.self)
    let isKnown =
      name == "etc" || SentenceFinder.leading.contains(name) || SentenceFinder.closing.contains(name)
    return isKnown ? begin..<end : nil
  }

  private func isAbbreviationByte(_ byte: UInt8) -> Bool {
    TextBytes.isLetter(byte) || byte == UInt8(ascii: ".")
  }

  // MARK: - Options, hyphenation

  private static let longestOption = 64

  /// Matches an option of a command: `-x`, `--dry-run`.
  private func option(across cut: Int) -> Range<Int>? {
    var begin = cut
    while begin > 0, cut - begin < Self.longestOption, isOptionByte(text[begin - 1]) { begin -= 1 }
    var name = begin
    while text[name] == UInt8(ascii: "-") { name += 1 }
    var end = max(cut, name)
    while end - begin < Self.longestOption, isOptionByte(text[end]) { end += 1 }
    while end > name, text[end - 1] == UInt8(ascii: "-") { end -= 1 }
    // A single dash before a word may be a dash or a list's mark.
    guard name - begin == 2 || name - begin == 1 && end - name == 1, TextBytes.isLetter(text[name]),
      !text.isWordByte(begin - 1), text[begin - 1] < 0x80
    else { return nil }
    return begin..<end
  }

  private func isOptionByte(_ byte: UInt8) -> Bool {
    TextBytes.isLetter(byte) || TextBytes.isDigit(byte) || byte == UInt8(ascii: "-")
  }

  /// No word is longer, in bytes, nor a line's indentation.
  private static let longestPart = 48

  /// Matches a word that a hyphen divides at the end of a line.
  private func hyphenated(across cut: Int) -> Range<Int>? {
    let low = max(1, cut - 2 * Self.longestPart)
    let high = min(text.count - 1, cut + Self.longestPart)
    guard low < high else { return nil }
    for hyphen in low..<high {
      let lineBreak = lineBreakSize(at: hyphen)
      // Also U+2010 and the soft hyphen.
      guard
        lineBreak > 0,
        text[hyphen - 1] == UInt8(ascii: "-") || text.has("\u{2010}", at: hyphen - 3)
          || text.has("\u{AD}", at: hyphen - 2)
      else { continue }
      var begin = hyphen
      while begin > 0, hyphen - begin < Self.longestPart, isPartByte(text[begin - 1]) { begin -= 1 }
      let line = hyphen + lineBreak
      var next = line
      while next - line < Self.longestPart, text[next] == 0x20 || text[next] == 0x09 { next += 1 }
      var end = next
      while end - next < Self.longestPart, isPartByte(text[end]) { end += 1 }
      let isWord = TextBytes.isLetter(text[begin]) || text[begin] >= 0x80
      guard isWord, isLowercase(next),
        Self.isInside(cut, begin..<end)
      else { continue }
      return begin..<end
    }
    return nil
  }

  /// True for a lower-case letter of ASCII, or any other letter.
  private func isLowercase(_ position: Int) -> Bool {
    text[position] & 0x20 != 0 && TextBytes.isLetter(text[position]) || text.nameLetter(at: position) > 0
  }

  private func isPartByte(_ byte: UInt8) -> Bool {
    TextBytes.isLetter(byte) || byte >= 0x80 || byte == UInt8(ascii: "-")
  }

  func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

  /// Returns the bytes of the line break at a place; 0 if there is none.
  func lineBreakSize(at position: Int) -> Int {
    position < text.count ? SentenceFinder(text: text.bytes).lineBreakSize(at: position) : 0
  }
}
