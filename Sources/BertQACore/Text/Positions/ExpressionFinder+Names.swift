/// Paths and names of computing: `/etc/apt/sources.list`, `C:\Windows\win.ini`, `node.js`, `foo.bar()`, `std::vector`,
/// `max_answer_len`, `1.2.3-rc1`.
///
/// A dot alone does not make a name: texts have full stops without a space after them.
extension ExpressionFinder {
  /// The maximum bytes of a name on either side of a cut.
  private static let longestName = 512

  func name(across cut: Int) -> Range<Int>? {
    if let path = drivePath(across: cut) { return path }
    let isInCall = text[cut - 1] == UInt8(ascii: "(") && text[cut] == UInt8(ascii: ")")
    let place = isInCall ? cut - 1 : cut
    var (begin, end) = (place, place)
    while let size = size(before: begin, nameSize) {
      begin -= size
      if place - begin > Self.longestName { return nil }
    }
    while let size = nameSize(at: end) {
      end += size
      if end - place > Self.longestName { return nil }
    }
    // Punctuation of the sentence.
    while end > begin, Self.isMark(text[end - 1]) { end -= 1 }
    while begin < end, Self.isMark(text[begin]), !beginsPath(begin) { begin += 1 }
    guard begin < end else { return nil }
    let isCall = text.has("()", at: end)
    guard Self.isInside(cut, begin..<(isCall ? end + 2 : end)) else { return nil }
    let name = Name(bytes: Array(text.bytes[begin..<end]), isCall: isCall)
    if text.has("//", at: begin), let scheme = scheme(before: begin) { return scheme..<end }
    guard
      name.isPath(behind: text[begin - 1]) || name.isDotted || name.isVersion
        || name.isHyphenated && text[begin - 1] != UInt8(ascii: "-")
    else { return nil }
    return begin..<(isCall ? end + 2 : end)
  }

  /// Returns the size of a character of names and paths at a place; nil for any other.
  private func nameSize(at position: Int) -> Int? {
    if text.isWordByte(position) || Self.isMark(text[position]) { return 1 }
    switch text[position] {
    case UInt8(ascii: "/"), UInt8(ascii: "\\"): return 1
    case UInt8(ascii: ":"):
      let other = text[position + 1] == UInt8(ascii: ":") ? position - 1 : position + 1
      let isDouble = text[position + 1] == UInt8(ascii: ":") || text[position - 1] == UInt8(ascii: ":")
      return isDouble && text.isWordByte(other) ? 1 : nil
    default:
      let letter = text.nameLetter(at: position)
      return letter > 0 ? letter : nil
    }
  }

  /// Marks that belong to a name inside it but not at its edges.
  private static func isMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "~"),
      UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "%"):
      return true
    default: return false
    }
  }

  /// True if a path begins with the mark at a place: `~/`, `./`, `../`, `$HOME/`, `%TEMP%\`.
  private func beginsPath(_ position: Int) -> Bool {
    if text.has("~/", at: position) || text.has("./", at: position) || text.has("../", at: position) {
      return true
    }
    guard text[position] == UInt8(ascii: "$") || text[position] == UInt8(ascii: "%") else { return false }
    var end = position + 1
    while text.isWordByte(end) { end += 1 }
    if text[end] == UInt8(ascii: "%") { end += 1 }
    return end > position + 1 && (text[end] == UInt8(ascii: "/") || text[end] == UInt8(ascii: "\\"))
  }

  /// Returns the beginning of the `s3:` of `s3://bucket`.
  private func scheme(before slashes: Int) -> Int? {
    guard text[slashes - 1] == UInt8(ascii: ":") else { return nil }
    var begin = slashes - 1
    while text.isAlphanumeric(begin - 1), slashes - begin < 16 { begin -= 1 }
    return begin < slashes - 1 && !text.isWordByte(begin - 1) ? begin : nil
  }

  // MARK: - Paths with a drive

  /// Windows' longest path without a prefix.
  private static let longestDrivePath = 260

  private func drivePath(across cut: Int) -> Range<Int>? {
    var colon = cut + 1
    while colon > max(0, cut - Self.longestDrivePath), text[colon] != UInt8(ascii: "\n") || colon >= cut {
      colon -= 1
      let isDrive =
        text[colon] == UInt8(ascii: ":") && TextBytes.isLetter(text[colon - 1])
        && !text.isWordByte(colon - 2)
        && (text[colon + 1] == UInt8(ascii: "\\") || text.has("/", at: colon + 1))
      guard isDrive, !text.has("//", at: colon + 1) else { continue }
      let range = colon - 1..<drivePathEnd(from: colon + 2)
      return Self.isInside(cut, range) ? range : nil
    }
    return nil
  }

  private func drivePathEnd(from start: Int) -> Int {
    var end = start
    while end - start < Self.longestDrivePath {
      if let size = nameSize(at: end) {
        end += size
      } else if let next = folderWithSpaces(at: end) {
        end = next
      } else {
        break
      }
    }
    while end > start, text[end - 1] == UInt8(ascii: ".") { end -= 1 }
    return end
  }

  /// Returns the end of a folder's name that continues after a space up to a backslash: ` Files (x86)\`, of words
  /// that begin with capitals.
  private func folderWithSpaces(at space: Int) -> Int? {
    var position = space
    for _ in 0..<4 {
      guard text[position] == UInt8(ascii: " ") else { return nil }
      position += 1
      let first = text[position]
      guard
        first & 0x20 == 0 && TextBytes.isLetter(first) || first == UInt8(ascii: "(")
          || text.has("and ", at: position)
      else { return nil }
      while position - space < Self.longestDrivePath,
        text.isAlphanumeric(position) || text[position] == UInt8(ascii: "(")
          || text[position] == UInt8(ascii: ")")
      {
        position += 1
      }
      if text[position] == UInt8(ascii: "\\") { return position }
    }
    return nil
  }
}

/// A candidate for a name: characters without white space, and no marks around it but those that begin a path.
private struct Name {
  let bytes: [UInt8]
  /// True if `()` follows.
  let isCall: Bool

  // MARK: - Paths

  /// The directories of Linux's root (Filesystem Hierarchy Standard). They are paths of one name; other words after
  /// a slash are not.
  private static let roots = Set(
    words: """
      bin boot dev etc home lib media mnt opt proc root run sbin srv sys tmp usr var
      """)

  /// - Parameter before: the byte before the name.
  func isPath(behind before: UInt8) -> Bool {
    if zip(bytes, bytes.dropFirst()).contains(where: { $0 == UInt8(ascii: "\\") && Self.isWord($1) }),
      bytes[0] != UInt8(ascii: "\\") || bytes.dropFirst().contains(UInt8(ascii: "\\"))
    {
      return true
    }
    let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last(where: { !$0.isEmpty }) else { return false }
    switch bytes[0] {
    case UInt8(ascii: "~"), UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "%"): return true
    case UInt8(ascii: "/"):
      guard !TextBytes.isLetter(before), !TextBytes.isDigit(before), before != UInt8(ascii: ")"),
        before != UInt8(ascii: ">"), before != UInt8(ascii: "<"), let first = parts.dropFirst().first,
        first.contains(where: Self.isWord)
      else { return false }
      return parts.count > 2 || Self.roots.contains(String(decoding: first, as: UTF8.self))
        || first.contains(UInt8(ascii: ".")) || first.contains(UInt8(ascii: "_"))
    default:
      // Otherwise only names of files are paths: and/or, km/h and 1/2 are not.
      guard !parts.contains(where: \.isEmpty) || bytes.last == UInt8(ascii: "/") else { return false }
      if bytes.contains(UInt8(ascii: "_")) { return true }
      let names = last.split(separator: UInt8(ascii: "."))
      guard names.count > 1, let ending = names.last else { return false }
      return (1...5).contains(ending.count)
        && ending.allSatisfy { Self.isLower($0) || TextBytes.isDigit($0) }
        && ending.contains(where: Self.isLower)
    }
  }

  // MARK: - Names

  /// Endings of files and hosts that are not words, so that a full stop without a space after it does not make a
  /// name.
  private static let endings = Set(
    words: """
      ac apk bak bat bz2 c cc cfg conf cpp cs css csv db deb diff dll doc docx exe gif gz h hpp htm html ini internal \
      ipynb iso jar java jpeg jpg js json jsonl jsx kt lan list local log lua m4 md mp3 mp4 odt patch pdf php pl png \
      pptx ps1 py rb rpm rs rst rtf scss sh sql sqlite svg swift tar tex tif tmp toml ts tsv tsx txt wav webp \
      xls xlsx xml xz yaml yml zip
      """)

  /// Matches names with dots, `::` or `_` in them, or `()` after them.
  var isDotted: Bool {
    guard !bytes.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) else {
      return false
    }
    let isMarked =
      isCall || bytes.contains(UInt8(ascii: ":"))
      || zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "_") && Self.isWord($1) }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard !parts.contains(where: \.isEmpty) else { return false }
    if isMarked { return true }
    guard parts.count > 1 else { return false }
    var isName = false
    var areWords = true
    for (left, right) in zip(parts, parts.dropFirst()) {
      guard let first = right.first else { return false }
      let hasLetter = left.contains { !TextBytes.isDigit($0) }
      if Self.isUpper(first) {
        // A sentence begins there, except in names that are all upper-case, in a name such as models.ForeignKey, and in
        // the last of three parts.
        let isConstant =
          left.count > 1 && left.allSatisfy(Self.isUpper) && right.count > 1 && right.allSatisfy(Self.isUpper)
        guard
          isConstant || Self.isMixed(right) && (left.allSatisfy(Self.isLower) || Self.isMixed(left))
            || areWords && parts.count > 2 && right.endIndex == bytes.endIndex
        else { return false }
        isName = true
      } else if TextBytes.isDigit(first) {
        if hasLetter, Self.isMixed(left) { isName = true }
      } else {
        // 1999.he
        guard hasLetter else { return false }
        if Self.isMixed(left) || Self.isMixed(right) { isName = true }
      }
      areWords =
        areWords && left.count > 1 && left.dropFirst().allSatisfy(Self.isLower) && right.count > 1
        && right.allSatisfy(Self.isLower)
    }
    let ending = parts.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let hasEnding =
      Self.endings.contains(ending) && parts.dropLast().allSatisfy { $0.contains(where: Self.isLetter) }
    return isName || hasEnding || areWords && parts.count > 2
  }

  /// Matches digits with dots between them and a suffix after `-`, `+` or `~`: `1.2.3-rc1`, `v2.0-beta`, `3.0.11-1`;
  /// not `2.5-inch`.
  var isVersion: Bool {
    guard
      let mark = bytes.firstIndex(where: {
        [UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "~")].contains($0)
      })
    else { return false }
    var digits = bytes[..<mark]
    let isMarked = digits.first.map { $0 | 0x20 } == UInt8(ascii: "v")
    if isMarked { digits = digits.dropFirst() }
    let numbers = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard numbers.count > 1, numbers.allSatisfy({ !$0.isEmpty && $0.allSatisfy(TextBytes.isDigit) }) else {
      return false
    }
    let suffix = bytes[(mark + 1)...]
    // A Debian revision. Other digits end a range.
    if numbers.count > 2, (1...4).contains(suffix.count), suffix.allSatisfy(TextBytes.isDigit) { return true }
    return suffix.contains(where: Self.isLetter) && (isMarked || numbers.count > 2 || Self.isMixed(suffix))
  }

  /// Matches words and numbers with hyphens between them that are one name: `CVE-2025-26699`, `BSD-3-Clause`, `F-16`,
  /// `dconf-gsettings-backend`; not `F-16-based`, `Paris-2024-Olympics`, `5-year-old` and `state-of-the-art`.
  var isHyphenated: Bool {
    let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last, let initial = first.first,
      Self.isLetter(initial),
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { Self.isWord($0) || $0 == UInt8(ascii: ".") } })
    else { return false }
    let isCode = first.allSatisfy { Self.isUpper($0) || TextBytes.isDigit($0) }
    if parts.count == 2 { return isCode && last.allSatisfy(TextBytes.isDigit) }
    // "-based", "-like" and others follow a name, and a word follows words.
    let isSuffix =
      last.dropFirst().allSatisfy(Self.isLower) && last.contains(where: Self.isLower)
      && bytes.contains(where: Self.isUpper)
      && (last.allSatisfy(Self.isLower) || !isCode && !parts.contains(where: Self.isMixed))
    if bytes.contains(where: TextBytes.isDigit) { return !isSuffix }
    return !bytes.contains(where: Self.isUpper)
      && !parts.contains { Self.joiningWords.contains(String(decoding: $0, as: UTF8.self)) }
  }

  /// Words in compounds of English, such as `state-of-the-art` and `thirty-year-old`.
  private static let joiningWords = Set(
    words: """
      a and at by down for in of off on or out the to up with one two three four five six seven eight nine ten eleven \
      twelve twenty thirty forty fifty sixty seventy eighty ninety hundred first second third old year day time term \
      high low long short well half
      """)

  /// True if it has letters and digits, or an upper-case letter after lower-case ones.
  private static func isMixed(_ part: ArraySlice<UInt8>) -> Bool {
    part.contains(where: isLetter) && part.contains(where: TextBytes.isDigit)
      || zip(part, part.dropFirst()).contains { isLower($0) && isUpper($1) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { TextBytes.isLetter(byte) || byte >= 0x80 }
  private static func isWord(_ byte: UInt8) -> Bool {
    isLetter(byte) || TextBytes.isDigit(byte) || byte == UInt8(ascii: "_")
  }
  private static func isUpper(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }
  private static func isLower(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
}
