/// Characters that pages name (`&dollar;`), as browsers read them: those that libxml2 before 2.14 does not know.
enum CharacterReferences {
  /// The names of U+00A0 to U+00FF. As the oldest names, these need no semicolon, and neither do `plain`.
  private static let latin1 = #"""
      nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 \#
      sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc \#
      Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve \#
      Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute \#
      acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde \#
      ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
    """#
  private static let plain = #"quot " QUOT " amp & AMP & lt < LT < gt > GT > COPY © REG ®"#
  /// What HTML 5 added to the names of HTML 4, each with its character, without mathematics and Cyrillic.
  private static let added = #"""
      excl ! QUOT " num # dollar $ percnt % AMP & apos ' lpar ( rpar ) ast * midast * plus + comma , \#
      period . sol / colon : semi ; LT < equals = GT > quest ? commat @ lbrack [ lsqb [ bsol \ rbrack ] \#
      rsqb ] Hat ^ UnderBar _ lowbar _ grave ` lbrace { lcub { VerticalLine | verbar | vert | rbrace } \#
      rcub } Dot ¨ DoubleDot ¨ die ¨ COPY © REG ® circledR ® strns ¯ PlusMinus ± pm ± CenterDot · \#
      centerdot · Cedilla ¸ half ½ angst Å div ÷ Amacr Ā amacr ā Abreve Ă abreve ă Aogon Ą aogon ą \#
      Cacute Ć cacute ć Ccirc Ĉ ccirc ĉ Cdot Ċ cdot ċ Ccaron Č ccaron č Dcaron Ď dcaron ď Dstrok Đ \#
      dstrok đ Emacr Ē emacr ē Edot Ė edot ė Eogon Ę eogon ę Ecaron Ě ecaron ě Gcirc Ĝ gcirc ĝ Gbreve Ğ \#
      gbreve ğ Gdot Ġ gdot ġ Gcedil Ģ Hcirc Ĥ hcirc ĥ Hstrok Ħ hstrok ħ Itilde Ĩ itilde ĩ Imacr Ī imacr \#
      ī Iogon Į iogon į Idot İ imath ı inodot ı IJlig Ĳ ijlig ĳ Jcirc Ĵ jcirc ĵ Kcedil Ķ kcedil ķ kgreen \#
      ĸ Lacute Ĺ lacute ĺ Lcedil Ļ lcedil ļ Lcaron Ľ lcaron ľ Lmidot Ŀ lmidot ŀ Lstrok Ł lstrok ł Nacute \#
      Ń nacute ń Ncedil Ņ ncedil ņ Ncaron Ň ncaron ň napos ŉ ENG Ŋ eng ŋ Omacr Ō omacr ō Odblac Ő odblac \#
      ő Racute Ŕ racute ŕ Rcedil Ŗ rcedil ŗ Rcaron Ř rcaron ř Sacute Ś sacute ś Scirc Ŝ scirc ŝ Scedil Ş \#
      scedil ş Tcedil Ţ tcedil ţ Tcaron Ť tcaron ť Tstrok Ŧ tstrok ŧ Utilde Ũ utilde ũ Umacr Ū umacr ū \#
      Ubreve Ŭ ubreve ŭ Uring Ů uring ů Udblac Ű udblac ű Uogon Ų uogon ų Wcirc Ŵ wcirc ŵ Ycirc Ŷ ycirc \#
      ŷ Zacute Ź zacute ź Zdot Ż zdot ż Zcaron Ž zcaron ž Hacek ˇ caron ˇ Breve ˘ breve ˘ dot ˙ ring ˚ \#
      ogon ˛ dblac ˝ ohm Ω dash ‐ hyphen ‐ horbar ― Verbar ‖ Vert ‖ OpenCurlyQuote ‘ CloseCurlyQuote ’ \#
      rsquor ’ lsquor ‚ OpenCurlyDoubleQuote “ CloseCurlyDoubleQuote ” rdquor ” ldquor „ ddagger ‡ \#
      bullet • nldr ‥ mldr … pertenk ‱ tprime ‴ backprime ‵ bprime ‵ OverBar ‾ hybull ⁃ bsemi ⁏ incare ℅ \#
      hbar ℏ planck ℏ ell ℓ numero № copysr ℗ rx ℞ TRADE ™ frac13 ⅓ frac23 ⅔ frac15 ⅕ frac25 ⅖ frac35 ⅗ \#
      frac45 ⅘ frac16 ⅙ frac56 ⅚ frac18 ⅛ frac38 ⅜ frac58 ⅝ frac78 ⅞ LeftArrow ← ShortLeftArrow ← \#
      leftarrow ← slarr ← ShortUpArrow ↑ UpArrow ↑ uparrow ↑ RightArrow → ShortRightArrow → rightarrow → \#
      srarr → DownArrow ↓ ShortDownArrow ↓ downarrow ↓ LeftRightArrow ↔ leftrightarrow ↔ UpDownArrow ↕ \#
      updownarrow ↕ varr ↕ bigstar ★ starf ★ star ☆ phone ☎ female ♀ male ♂ spadesuit ♠ clubsuit ♣ \#
      heartsuit ♥ diamondsuit ♦ sung ♪ flat ♭ natur ♮ natural ♮ sharp ♯ check ✓ checkmark ✓ cross ✗ \#
      fflig ﬀ filig ﬁ fllig ﬂ ffilig ﬃ ffllig ﬄ
    """#
  private static let white: [String: Unicode.Scalar] = [
    "Tab": "\t", "NewLine": "\n", "NonBreakingSpace": "\u{A0}", "emsp13": "\u{2004}", "emsp14": "\u{2005}",
    "numsp": "\u{2007}", "puncsp": "\u{2008}", "ThinSpace": "\u{2009}", "hairsp": "\u{200A}",
    "ZeroWidthSpace": "\u{200B}", "NoBreak": "\u{2060}",
  ]

  /// Those that need no semicolon.
  private static let short = pairs(plain).merging(
    zip(latin1.split(separator: " "), (0xA0 as UInt32)...).compactMap { name, value in
      Unicode.Scalar(value).map { (String(name), $0) }
    }, uniquingKeysWith: { first, _ in first })
  static let all = short.merging(pairs(added), uniquingKeysWith: { first, _ in first })
    .merging(white, uniquingKeysWith: { first, _ in first })
  private static let (longest, longestShort) = (32, 6)

  private static func pairs(_ list: String) -> [String: Unicode.Scalar] {
    let words = list.split(separator: " ")
    var pairs: [String: Unicode.Scalar] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      pairs[String(words[index])] = words[index + 1].unicodeScalars.first
    }
    return pairs
  }

  /// Returns the character that a text behind `&` names, and the size of the name with its semicolon; nil for none.
  static func first(in text: some BidirectionalCollection<UInt8>) -> (character: Unicode.Scalar, size: Int)? {
    let name = String(decoding: text.prefix(longest).prefix(while: isAlphanumeric), as: UTF8.self)
    let isEnded = text.dropFirst(name.utf8.count).first == UInt8(ascii: ";")
    if isEnded, let character = all[name] { return (character, name.utf8.count + 1) }
    var beginning = name.prefix(longestShort)
    while !beginning.isEmpty {
      if let character = short[String(beginning)] {
        // With a semicolon, this may begin another name, such as that of "∉", which begins like that of "¬".
        let next = name.dropFirst(beginning.count).first
        return isEnded && next?.isLetter == true ? nil : (character, beginning.utf8.count)
      }
      beginning.removeLast()
    }
    return nil
  }

  /// Returns a page with numbers in place of the names, which libxml2 reads in every version.
  static func numbered(in page: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var (done, position) = (0, 0)
    while let start = page[position...].firstIndex(of: UInt8(ascii: "&")) {
      position = start + 1
      guard let found = first(in: page[position...]) else { continue }
      output += page[done..<start]
      output += "&#\(found.character.value);".utf8
      position += found.size
      done = position
    }
    return done == 0 ? page : output + page[done...]
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
  }
}
