import BertQACore

/// What one document says to one question, to be printed.
struct AnswerRecord {
  let file: ArgumentText
  let question: ArgumentText
  let document: UnsafeBufferPointer<UInt8>
  let result: AnswerResult

  /// Which columns a line has; the answer is always one.
  struct LineFormat {
    let showsFile: Bool
    let showsQuestion: Bool
    let showsProbability: Bool
    let showsSentence: Bool
    let highlights: Bool
  }

  /// One object, on one line. Names and meanings are those of the C API.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("file")
      writer.string(file.bytes)
      writer.key("question")
      writer.string(question.bytes)
      result.writeMembers(document: document, to: &writer)
    }
    return writer.takeLine()
  }

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
        lines += decimal(Double(min(max(answer.probability, 0), 1)), digits: 4).utf8
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

  private func text(_ range: TextRange) -> Slice<UnsafeBufferPointer<UInt8>> {
    document[range.start..<range.end]
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
}

extension AnswerResult {
  /// The members of an object, named as in the C API.
  func writeMembers(document: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
    writer.key("answers")
    writer.array { writer in
      for answer in answers { answer.write(document: document, to: &writer) }
    }
    writer.key("is_impossible")
    writer.boolean(isImpossible)
    writer.key("null_score")
    writer.number(nullScore)
    writer.key("gap")
    writer.number(gap)
    writer.key("no_answer_probability")
    writer.number(noAnswerProbability)
    writer.key("window_count")
    writer.integer(windowCount)
    writer.key("skipped_window_count")
    writer.integer(skippedWindowCount)
    writer.key("is_question_truncated")
    writer.boolean(questionWasTruncated)
    writer.key("is_question_empty")
    writer.boolean(emptyInput == .emptyQuestion)
    writer.key("is_document_empty")
    writer.boolean(emptyInput == .emptyDocument)
  }
}

extension Answer {
  fileprivate func write(document: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.place(bytes, codePoints, utf16, in: document)
      writer.key("sentence")
      writer.object { writer in
        writer.key("text")
        writer.string(document[sentence.start..<sentence.end])
        writer.key("bytes")
        writer.range(sentence)
      }
      writer.key("score")
      writer.number(score)
      writer.key("probability")
      writer.number(probability)
      writer.key("gap")
      writer.number(gap)
    }
  }
}
