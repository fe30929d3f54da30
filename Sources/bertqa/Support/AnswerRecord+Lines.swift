import BertQACore

/// Which columns a line has; the answer is always one.
struct LineFormat {
  let showsFile: Bool
  let showsQuestion: Bool
  let showsProbability: Bool
  let showsSentence: Bool
  let highlights: Bool
}

extension AnswerRecord {
  /// One line an answer, of columns separated by tabs.
  func lines(_ format: LineFormat) -> [UInt8] {
    var lines: [UInt8] = []
    for answer in result.answers {
      if format.showsFile {
        PlainText.append(file.bytes, to: &lines)
        lines.append(Self.tab)
      }
      if format.showsQuestion {
        PlainText.append(question.bytes, to: &lines)
        lines.append(Self.tab)
      }
      if format.showsProbability {
        lines += Self.fourDecimals(answer.probability).utf8
        lines.append(Self.tab)
      }
      PlainText.append(text(answer.bytes), to: &lines)
      if format.showsSentence {
        lines.append(Self.tab)
        appendSentence(around: answer, highlights: format.highlights, to: &lines)
      }
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }

  private func appendSentence(around answer: Answer, highlights: Bool, to lines: inout [UInt8]) {
    guard highlights else { return PlainText.append(text(answer.sentence), to: &lines) }
    PlainText.append(text(TextRange(start: answer.sentence.start, end: answer.bytes.start)), to: &lines)
    lines += Self.highlight
    PlainText.append(text(answer.bytes), to: &lines)
    lines += Self.plain
    PlainText.append(text(TextRange(start: answer.bytes.end, end: answer.sentence.end)), to: &lines)
  }

  private static let tab = UInt8(ascii: "\t")
  /// Bold, underlined, green.
  private static let highlight = Array("\u{1B}[1;4;32m".utf8)
  private static let plain = Array("\u{1B}[0m".utf8)

  /// A share of 0 to 1, such as "0.9731".
  private static func fourDecimals(_ share: Float) -> String {
    let digits = String(Int((min(max(share, 0), 1) * 10_000).rounded()) + 10_000)
    return (digits.first == "1" ? "0." : "1.") + digits.dropFirst()
  }
}
