import BertQACore

/// Formats an answer for a terminal: in its surrounding text, with its probability.
struct AnswerDisplay {
  /// True highlights the answer; false puts it in square brackets.
  let usesColor: Bool

  /// Bold, underlined, green.
  static let highlight = "\u{1B}[1;4;32m"
  static let dim = "\u{1B}[2m"
  static let plain = "\u{1B}[0m"

  /// "0.9852  The quick brown fox jumps over the lethargic dog."
  func line(_ answer: Answer, in document: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    Array("\(Self.probability(answer))  ".utf8) + sentence(answer, in: document)
  }

  func sentence(_ answer: Answer, in document: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    append(answer, within: answer.sentence, of: document, to: &text)
    return text
  }

  static func probability(_ answer: Answer) -> String {
    decimal(Double(min(max(answer.probability, 0), 1)), digits: 4)
  }

  /// Returns the answer's sentence with up to `around` bytes of the text on both sides.
  func passage(_ answer: Answer, in document: UnsafeBufferPointer<UInt8>, around: Int) -> [UInt8] {
    let start = Self.start(of: answer.sentence, around, document)
    let end = Self.end(of: answer.sentence, around, document)
    var text: [UInt8] = []
    if start > 0 { text += "… ".utf8 }
    append(answer, within: TextRange(start: start, end: end), of: document, to: &text)
    if end < document.count { text += " …".utf8 }
    return text
  }

  private func append(
    _ answer: Answer, within range: TextRange, of document: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]
  ) {
    PlainText.append(document[range.start..<answer.bytes.start], to: &text)
    text += (usesColor ? Self.highlight : "[").utf8
    PlainText.append(document[answer.bytes.start..<answer.bytes.end], to: &text)
    text += (usesColor ? Self.plain : "]").utf8
    PlainText.append(document[answer.bytes.end..<range.end], to: &text)
  }

  /// Returns the position after the last blank line in reach, or else after the first space.
  private static func start(
    of range: TextRange, _ reach: Int, _ document: UnsafeBufferPointer<UInt8>
  ) -> Int {
    let low = max(0, range.start - reach)
    if let blank = blankLine(in: document[low..<range.start], last: true) { return blank }
    if low == 0 { return 0 }
    return document[low..<range.start].firstIndex(of: UInt8(ascii: " ")).map { $0 + 1 } ?? range.start
  }

  private static func end(
    of range: TextRange, _ reach: Int, _ document: UnsafeBufferPointer<UInt8>
  ) -> Int {
    let high = min(document.count, range.end + reach)
    if let blank = blankLine(in: document[range.end..<high], last: false) { return blank }
    if high == document.count { return high }
    return document[range.end..<high].lastIndex(of: UInt8(ascii: " ")) ?? range.end
  }

  /// Returns the position after the last blank line, or before the first.
  private static func blankLine(in text: Slice<UnsafeBufferPointer<UInt8>>, last: Bool) -> Int? {
    var found: Int?
    var feed: Int?
    for (index, byte) in zip(text.indices, text) where byte != UInt8(ascii: "\r") {
      let isFeed = byte == UInt8(ascii: "\n")
      if isFeed, let feed {
        found = last ? index + 1 : feed
        if !last { break }
      }
      feed = isFeed ? index : nil
    }
    return found
  }
}
