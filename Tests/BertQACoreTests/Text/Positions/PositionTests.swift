import Foundation
import Testing

@testable import BertQACore

@Suite struct PositionTests {
  /// Decodes with replacement as Python does: Swift's decoder replaces maximal invalid sequences too.
  static func check(_ bytes: [UInt8], at offsets: some Sequence<Int>) throws {
    try bytes.withUnsafeBufferPointer { text in
      let positions = try TextPositions(text, CallMonitor(CallOptions()))
      for offset in offsets {
        let decoded = String(decoding: bytes[..<offset], as: UTF8.self)
        let position = positions.position(ofByte: offset, in: text)
        #expect(position.codePoint == decoded.unicodeScalars.count, "\(bytes.prefix(20)) at \(offset)")
        #expect(position.utf16 == decoded.utf16.count, "\(bytes.prefix(20)) at \(offset)")
        #expect(position.byte == offset)
      }
    }
  }

  /// The byte offsets where a code point of the decoded text begins, and the end.
  static func borders(_ bytes: [UInt8]) -> [Int] {
    bytes.withUnsafeBufferPointer { text in
      var borders = [0]
      while let last = borders.last, last < text.count {
        borders.append(last + UTF8Codec.decode(text, at: last).size)
      }
      return borders
    }
  }

  @Test func countsOfWellFormedText() throws {
    let text = "e\u{301} 👩‍👩‍👧 日本語 naïve 𝒳 İ ﬁ end"
    try Self.check(Array(text.utf8), at: Self.borders(Array(text.utf8)))
  }

  /// The known cases of bytes.decode("utf-8", "replace"): U+FFFD per maximal subpart.
  @Test func countsOfInvalidText() throws {
    let cases: [([UInt8], Int)] = [
      ([0xFF], 1), ([0x80, 0x80], 2), ([0xC0, 0xAF], 2), ([0xE2, 0x82], 1), ([0xE2, 0x28, 0xA1], 3),
      ([0xF0, 0x9F, 0x98], 1), ([0xF0, 0x9F, 0x41], 2), ([0xED, 0xA0, 0x80], 3),
      ([0xF4, 0x90, 0x80, 0x80], 4), ([0xF5, 0x80], 2), ([0xE0, 0x80, 0x80], 3),
      ([0xF0, 0x80, 0x80, 0x41], 4), ([0xE1, 0x80, 0xE1, 0x80, 0x80], 2),
    ]
    for (bytes, count) in cases {
      #expect(Self.borders(bytes).count - 1 == count, "\(bytes)")
      try Self.check(bytes, at: Self.borders(bytes))
    }
  }

  @Test func countsOfRandomBytes() throws {
    var random = TestRandom(1)
    let likely: [UInt8] = [0x41, 0x80, 0xBF, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF4, 0xFF, 0x9F, 0x90]
    for _ in 0..<300 {
      let bytes = (0..<24).map { _ in likely.randomElement(using: &random)! }
      try Self.check(bytes, at: Self.borders(bytes))
    }
  }

  @Test func countsAcrossCheckpoints() throws {
    var bytes = Array(String(repeating: "a€😀 plain text of some length ", count: 700).utf8)
    bytes.insert(contentsOf: [0xE2, 0x82], at: 9000)
    let borders = Self.borders(bytes)
    let near = borders.filter { offset in offset % TextPositions.spacing < 6 || offset % 4096 > 4090 }
    #expect(near.count > 20)
    try Self.check(bytes, at: near + [bytes.count])
  }

  @Test func anOffsetInsideACodePointCountsItAsPassed() throws {
    // The code point at 4095 lies across a checkpoint.
    let bytes = Array((String(repeating: "a", count: 4095) + "😀" + String(repeating: "b", count: 9)).utf8)
    try bytes.withUnsafeBufferPointer { text in
      let positions = try TextPositions(text, CallMonitor(CallOptions()))
      let counts = (4094...4100).map { positions.position(ofByte: $0, in: text).codePoint }
      #expect(counts == [4094, 4095, 4096, 4096, 4096, 4096, 4097])
    }
  }

  @Test func anAnswerIsItsSliceInEveryUnit() throws {
    let tokenizer = FakeTokenizer(["who", "😀👍", "e\u{301}", "left"])
    let answerer = QuestionAnswerer(tokenizer, .marking(start: 7 + 1, end: 7 + 2))
    for document in ["😀👍 e\u{301}", "日本 😀👍 e\u{301} left. Left", "left 😀👍 e\u{301}"] {
      let answer = try #require(try answerer.ask("who", document, AnswerOptions()).answers.first)
      #expect(answer.bytes.text(in: document) == "😀👍 e\u{301}")
      let scalars = Array(document.unicodeScalars)
      let units = Array(document.utf16)
      func slice(_ codePoints: TextRange, _ utf16: TextRange) -> [String] {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[codePoints.start..<codePoints.end])
        return [String(view), String(decoding: units[utf16.start..<utf16.end], as: UTF16.self)]
      }
      let text = answer.bytes.text(in: document)
      #expect(slice(answer.codePoints, answer.utf16) == [text, text])
      let sentence = answer.sentence.text(in: document)
      #expect(slice(answer.sentenceCodePoints, answer.sentenceUTF16) == [sentence, sentence])
    }
  }

  @Test func invalidBytesAtOffset0CountAsReplacements() throws {
    let tokenizer = FakeTokenizer(["who", "left"])
    let answerer = QuestionAnswerer(tokenizer, .marking(start: 8, end: 8))
    let document: [UInt8] = [0xFF, 0xE2, 0x82] + Array("left".utf8)
    let answer = try #require(try answerer.ask("who", document, AnswerOptions()).answers.first)
    #expect(answer.bytes == TextRange(start: 3, end: 7))
    #expect(answer.codePoints == TextRange(start: 2, end: 6))
    #expect(answer.utf16 == TextRange(start: 2, end: 6))
  }
}
