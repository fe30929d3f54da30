@_spi(_Unicode) import Swift
import Testing

@testable import BertQACore

@Suite struct WordScannerTests {
  struct Found: Equatable {
    var word: String
    var start: Int
    var end: Int
  }

  static func words(_ text: [UInt8], minimumLength: Int = 1) -> [Found] {
    text.withUnsafeBufferPointer { bytes in
      var scanner = WordScanner(bytes, minimumLength: minimumLength)
      var found: [Found] = []
      while (try? scanner.next()) == true {
        let word = UnsafeBufferPointer(start: scanner.bytes, count: scanner.byteCount)
        found.append(
          Found(word: String(decoding: word, as: UTF8.self), start: scanner.start, end: scanner.end))
      }
      return found
    }
  }

  private static func words(_ text: String, minimumLength: Int = 1) -> [String] {
    words(Array(text.utf8), minimumLength: minimumLength).map(\.word)
  }

  @Test func splitsAsUnicodeSays() {
    #expect(
      Self.words("Don't STOP: it's 3.14, not 1,000,000!") == [
        "don't", "stop", "it's", "3.14", "not", "1,000,000",
      ])
    #expect(
      Self.words("the U.S.A. e.g., www.example.com a_b __ _ '90s") == [
        "the", "u.s.a", "e.g", "www.example.com", "a_b", "90s",
      ])
    #expect(
      Self.words("Straße ÉCOLE cafe\u{301} naïve’s 日本 カタカナ ไทย") == [
        "straße", "école", "cafe\u{301}", "naïve’s", "日", "本", "カタカナ", "ไ", "ท", "ย",
      ])
    #expect(Self.words("ΟΔΟΣ ΣΑΣ.Β Σ İstanbul") == ["οδος", "σασ.β", "σ", "i\u{307}stanbul"])
    #expect(Self.words("") == [])
    #expect(Self.words(" \u{0}\u{1F600}.,;") == [])
  }

  @Test(arguments: ["_", "__", "\u{203F}", "\u{202F}", "_\u{301}", "\u{FF3F}_"])
  func connectorsAreOnlyWithinWords(_ connector: String) {
    let inner = connector.lowercased()
    for word in ["ab", "été", "7", "カタ", "日", "don't", "α\u{301}"] {
      let found = Self.words("\(connector)\(word)\(connector) x\(connector)!", minimumLength: 1)
      #expect(found == [word, "x"], "\(word)")
    }
    #expect(Self.words("\(connector)a\(connector)b\(connector)é\(connector)") == ["a\(inner)b\(inner)é"])
    let length = 2 + inner.unicodeScalars.count
    #expect(Self.words("\(connector)a\(connector)b\(connector)", minimumLength: length + 1) == [])
    #expect(Self.words("\(connector)a\(connector)b\(connector)", minimumLength: length).count == 1)
    #expect(Self.words(connector) == [])
    #expect(Self.words(Array("é\(connector)\(connector)".utf8)).map(\.end) == [2])
  }

  @Test func leavesOutWhatIsInvisible() {
    let text = "\u{FEFF}foot\u{AD}ball\u{200E} \u{202B}e\u{301}\u{2060}te\u{FE0F} don\u{AD}'\u{AD}t"
    #expect(Self.words(text) == ["football", "e\u{301}te", "don't"])
    #expect(Self.words("a\u{AD}\u{2060}b", minimumLength: 3) == [])
    // "می‌خواهم" and "क्‍ष" are spelt with joiners.
    #expect(Self.words("می\u{200C}خواهم क्\u{200D}ष") == ["می\u{200C}خواهم", "क्\u{200D}ष"])
  }

  @Test func countsCodePointsForTheLength() {
    #expect(Self.words("an the été e\u{301}t a1b", minimumLength: 3) == ["the", "été", "e\u{301}t", "a1b"])
  }

  @Test func passesOverWordsThatAreTooLong() {
    for length in [254, 255, 256, 300, 5000] {
      let word = String(repeating: "a", count: length)
      #expect(Self.words("x \(word) y") == (length <= 255 ? ["x", word, "y"] : ["x", "y"]))
      let accented = String(repeating: "é", count: length)
      #expect(Self.words("x \(accented) y") == (length <= 127 ? ["x", accented, "y"] : ["x", "y"]))
    }
  }

  /// The standard library finds the same boundaries, but for connectors at a word's ends, which it keeps, for Hangul, which it splits, and a quote between a
  /// Hebrew and another letter. Tests/python compares with a library without these defects.
  @Test(.enabled(if: referenceIsRight, "Swift 6.0's boundaries go backwards on some texts"))
  func findsTheStandardLibrarysBoundaries() {
    let alphabet: [String] = [
      "a", "B", "z", "0", "7", "_", "'", ".", ",", ";", ":", "\"", " ", "  ", "-", "\n", "\r\n", "\u{AD}",
      "\u{301}", "\u{200D}", "é", "ß", "Σ", "א", "ב", "\u{5F4}", "\u{2019}", "\u{B7}", "カ", "ひ", "日", "ไ",
      "\u{E31}", "\u{FF0C}", "\u{203F}", "१", "\u{1F600}", "\u{FFFD}", "\u{85}", "\u{3000}", "\u{1E00}",
    ]
    var generator = SplitMix64(seed: 11)
    for _ in 0..<40000 {
      var text = ""
      for _ in 0..<generator.next(below: 12) {
        let part = alphabet[generator.next(below: alphabet.count)]
        // Rule WB3c is left out.
        if part == "\u{1F600}", text.unicodeScalars.last == "\u{200D}" { continue }
        if part == "'", text.unicodeScalars.contains(where: { (0x5D0...0x5EA).contains($0.value) }) {
          continue
        }
        text.unicodeScalars.append(contentsOf: part.unicodeScalars)
      }
      let found = Self.words(Array(text.utf8)).map { Found(word: "", start: $0.start, end: $0.end) }
      #expect(found == Self.reference(text), "\(text.unicodeScalars.map(\.value))")
    }
  }

  private static var referenceIsRight: Bool {
    #if compiler(>=6.2)
      true
    #else
      false
    #endif
  }

  private static func reference(_ text: String) -> [Found] {
    func kind(_ scalar: Unicode.Scalar) -> WordBreak {
      WordBreak(rawValue: WordBreak.table[scalar.value]) ?? .other
    }
    var found: [Found] = []
    var start = text.startIndex
    while start < text.endIndex {
      let end = text._wordIndex(after: start)
      var word = text.unicodeScalars[start..<end]
      if word.contains(where: { kind($0).isWord || kind($0) == .single }) {
        if word.first.map(kind) == .extendNumLet {
          word = word.drop { [.extendNumLet, .extend].contains(kind($0)) }
        }
        while let last = word.lastIndex(where: { kind($0) != .extend }), kind(word[last]) == .extendNumLet {
          word = word[..<last]
        }
        let offset = { text.utf8.distance(from: text.utf8.startIndex, to: $0) }
        found.append(Found(word: "", start: offset(word.startIndex), end: offset(word.endIndex)))
      }
      start = end
    }
    return found
  }

  @Test func takesAnyBytes() {
    var generator = SplitMix64(seed: 5)
    for _ in 0..<2000 {
      let text = (0..<generator.next(below: 64)).map { _ in
        UInt8(truncatingIfNeeded: generator.next(below: 256))
      }
      var last = 0
      for word in Self.words(text) {
        #expect(word.start >= last && word.end > word.start && word.end <= text.count)
        #expect(!word.word.contains("\u{FFFD}"))
        last = word.end
      }
    }
  }

  @Test(arguments: ["!", " ", "a", "\u{E9}", "\u{301}", "a:\u{301}", "ab "])
  func stopsWithinAnyText(_ unit: String) {
    var options = CallOptions()
    options.cancellation = Cancellation { true }
    let poll = CallPoll(CallMonitor(options))
    let error = Array(String(repeating: unit, count: 300_000 / unit.utf8.count).utf8).withUnsafeBufferPointer
    {
      text in
      failure {
        var scanner = WordScanner(text, minimumLength: 1, poll: poll)
        while try scanner.next() {}
      }
    }
    #expect(error?.status == .cancelled)
  }
}
