/// Dots that do not end a sentence: those of initials, abbreviations and list numbers.
extension SentenceFinder {
  /// Abbreviations that precede a name or number far more often than they end a sentence.
  static let leading = Set(
    words: """
      Mr Mrs Ms Dr Prof St Mt Ft Gen Col Capt Lt Sgt Rev Hon Gov Sen Rep Pres vs cf approx Mme Mlle Sra Srta \
      Dra Sig Dott Hr Fr bzw vgl incl excl inkl zzgl ggf evtl Univ Inst Hrsg Mio Mrd ул им гг
      """)

  /// Abbreviations that end a name. A sentence may end there, too.
  static let closing = Set(words: "Inc Ltd Corp Bros Co Esq Jr Sr al Ave Blvd Rd")

  /// Abbreviations that precede a number.
  private static let leadingNumbers = Set(
    words: """
      No no Nos nos Nr Fig fig Figs Vol vol Art art Sec sec Ch ch pp ca Tel tel Apt App Chap Eq Eqs Kap \
      Abs Ziff Anm para paras Ref Refs Rs Sect Str str max ext Abb Bd Tab núm pág стр Jan Feb Mar Apr Jun \
      Jul Aug Sep Sept Oct Nov Dec
      """)

  /// Words that sentences begin with and names do not.
  private static let starters = Set(
    words: """
      a after all also an and another are as at because before both but by can did do does during each for \
      from had has have he her here his how however i if in is it its many most my no not of on one or other \
      our she since so some that the their then there these they this those thus to was we were what when \
      where which while who why with yes yet you your
      """)

  /// Words that follow the dot of German dates and ordinals: `3. Oktober`.
  private static let germanDates = Set(
    words: """
      Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert \
      Jahrhunderts
      """)

  /// Nouns that a letter numbers: vitamin C.
  private static let lettered = Set(
    words: """
      appendix class figure grade group hepatitis option part plan section type vitamin
      """)

  /// Nouns that a number with a dot follows at the beginning of a sentence: `Step 1. Open it.`
  private static let numbered = Set(
    words: """
      appendix article chapter clause exhibit figure part question rule section step table
      """)

  private static let longest = 12

  /// True if the dot at `dot`, which white space follows, belongs to an abbreviation, initial or number.
  /// - Parameters:
  ///   - content: where the sentence begins.
  ///   - next: where the next word begins, after quotes and brackets.
  func isAbbreviation(dot: Int, content: Int, next: Int) -> Bool {
    var start = dot
    var length = 0
    while let unit = unit(before: start), unit.scalar == 0x2E || Self.isLetter(unit) {
      start -= unit.size
      length += 1
      if length > Self.longest { return false }
    }
    if start == dot { return isOrdinal(dot: dot, content: content, next: next) }
    let word = String(decoding: text[start..<dot], as: UTF8.self)
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    // U.S, e.g, Ph.D; but not example.com, and not the last dot of an ellipsis.
    if parts.count > 1 {
      guard parts.allSatisfy({ (1...2).contains($0.count) }) else { return false }
      return word.first?.isLowercase == true && parts.count == 2 && parts[1] != "m" || !isStarter(at: next)
    }
    if word.count == 1 { return isInitial(start: start, content: content, next: next) }
    // II. Results
    if word.allSatisfy({ "IVXLC".contains($0) }), isFirst(start, content: content) { return true }
    if Self.leadingNumbers.contains(word) || word.hasSuffix("str") {
      let marks = TextBytes(bytes: text)
      return marks.isDigit(next) || marks[next] == UInt8(ascii: "#") || marks[next] == UInt8(ascii: "+")
    }
    return Self.leading.contains(word) || Self.closing.contains(word) && !isStarter(at: next)
  }

  private static func isLetter(_ unit: DecodedScalar) -> Bool {
    let properties = unit.unicodeScalar.properties
    return properties.isAlphabetic || properties.generalCategory == .nonspacingMark
  }

  /// True for a number of a list or a heading at the beginning of a sentence, such as `2.1.3.`, or for a German date.
  private func isOrdinal(dot: Int, content: Int, next: Int) -> Bool {
    var start = dot
    var part = dot
    while start > 0 {
      if TextBytes.isDigit(text[start - 1]) {
        start -= 1
        if part - start > 3 { return false }
      } else if start < part, text[start - 1] == UInt8(ascii: "."), dot - start < Self.longest {
        start -= 1
        part = start
      } else {
        break
      }
    }
    if start == dot { return false }
    if isFirst(start, content: content) || isNumbered(start, content: content) { return true }
    return part == dot && dot - start < 3 && Self.germanDates.contains(word(at: next))
  }

  /// True if nothing but marks of lists, headings and emphasis is before a place in its sentence.
  private func isFirst(_ start: Int, content: Int) -> Bool {
    content...content + Self.reach ~= start
      && text[content..<start].allSatisfy { " *_#>-([\"".utf8.contains($0) }
  }

  /// True if a noun such as `Step` is before a number, at the beginning of the sentence.
  private func isNumbered(_ number: Int, content: Int) -> Bool {
    let word = wordBefore(number, content: content).word
    guard Self.numbered.contains(word.lowercased()), number > content, text[number - 1] == UInt8(ascii: " ")
    else {
      return false
    }
    return isFirst(number - 1 - word.utf8.count, content: content)
  }

  /// True if a single letter is the initial of a name or an abbreviation rather than a sentence's last word.
  private func isInitial(start: Int, content: Int, next: Int) -> Bool {
    let letter = UTF8Codec.decode(text, at: start)
    guard letter.scalar < 0xE00 else { return false }
    // A. Terms, Q. Who pays?
    if isFirst(start, content: content) { return true }
    let isLower = letter.unicodeScalar.properties.isLowercase
    let isBeforeDigit = TextBytes(bytes: text).isDigit(next)
    if start > content, let before = unit(before: start), !before.isWhiteSpace {
      let category = before.unicodeScalar.properties.generalCategory
      switch category {
      case .openPunctuation, .initialPunctuation: break
      case .dashPunctuation: return !isLower && !isStarter(at: next)
      // km/h, 5m, it's
      default: if before.scalar != 0x22 && before.scalar != 0x27 || isLower { return false }
      }
    }
    // J. R. R., z. B.
    if isSingleLetter(at: next) { return true }
    let previous = wordBefore(start, content: content)
    if isLower {
      if previous.endsInDigit { return false }
      return isBeforeDigit || letter.scalar == UInt32(UInt8(ascii: "v")) || 0x400...0x52F ~= letter.scalar
    }
    // Abs. 1 S. 2
    if isBeforeDigit { return letter.scalar == UInt32(UInt8(ascii: "S")) && previous.endsInDigit }
    if isStarter(at: next) { return false }
    return !Self.lettered.contains(previous.word)
  }

  private func isSingleLetter(at position: Int) -> Bool {
    guard position < text.count else { return false }
    let unit = UTF8Codec.decode(text, at: position)
    let dot = position + unit.size
    return Self.isLetter(unit) && dot < text.count && text[dot] == UInt8(ascii: ".")
  }

  private func isStarter(at position: Int) -> Bool { Self.starters.contains(word(at: position).lowercased()) }

  /// Returns the letters at a place; empty if there are more than any list has.
  private func word(at start: Int) -> String {
    var end = start
    while end < text.count, case let unit = UTF8Codec.decode(text, at: end), Self.isLetter(unit) {
      end += unit.size
      if end - start > 2 * Self.longest { return "" }
    }
    return String(decoding: text[start..<end], as: UTF8.self)
  }

  /// Returns the letters before white space before a place, within this sentence.
  private func wordBefore(_ start: Int, content: Int) -> (word: String, endsInDigit: Bool) {
    var end = start
    while end > content, let unit = unit(before: end), unit.isWhiteSpace { end -= unit.size }
    var begin = end
    while begin > content, let unit = unit(before: begin), Self.isLetter(unit), end - begin < 2 * Self.longest
    {
      begin -= unit.size
    }
    return (
      String(decoding: text[begin..<end], as: UTF8.self), end > content && TextBytes.isDigit(text[end - 1])
    )
  }
}
