import BertQACore

/// The answers of one document to one question, ready to be printed.
struct AnswerRecord {
  let file: ArgumentText
  let question: ArgumentText
  let document: UnsafeBufferPointer<UInt8>
  let result: AnswerResult

  /// The columns that a line has in addition to the answer.
  struct LineFormat {
    let showsFile: Bool
    let showsQuestion: Bool
    let showsProbability: Bool
    let showsSentence: Bool
    let highlights: Bool
    /// True formats the answer for a terminal: once, in its sentence, with its probability.
    let isForTerminal: Bool
  }

  /// Returns one JSON object on one line. Names and meanings are those of the C API.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("file")
      writer.string(file.bytes)
      writer.key("question")
      writer.string(question.bytes)
      result.writeMembers(to: &writer, document: { _ in document })
    }
    return writer.takeLine()
  }

  /// Returns one line an answer, with its gap. Tabs separate the columns.
  func lines(_ format: LineFormat) -> [(gap: Float, bytes: [UInt8])] {
    result.answers.map { answer in
      var line: [UInt8] = []
      if format.showsFile {
        PlainText.append(file.bytes, to: &line)
        line.append(Self.tab)
      }
      if format.showsQuestion {
        PlainText.append(question.bytes, to: &line)
        line.append(Self.tab)
      }
      let display = AnswerDisplay(usesColor: format.highlights)
      if format.isForTerminal {
        line += display.line(answer, in: document)
      } else {
        appendColumns(answer, format, display, to: &line)
      }
      line.append(UInt8(ascii: "\n"))
      return (answer.gap, line)
    }
  }

  private func appendColumns(
    _ answer: Answer, _ format: LineFormat, _ display: AnswerDisplay, to line: inout [UInt8]
  ) {
    if format.showsProbability {
      line += AnswerDisplay.probability(answer).utf8
      line.append(Self.tab)
    }
    PlainText.append(document[answer.bytes.start..<answer.bytes.end], to: &line)
    guard format.showsSentence else { return }
    line.append(Self.tab)
    if format.highlights {
      line += display.sentence(answer, in: document)
    } else {
      PlainText.append(document[answer.sentence.start..<answer.sentence.end], to: &line)
    }
  }

  private static let tab = UInt8(ascii: "\t")
}

extension AnswerResult {
  /// Writes the members of an object, named as in the C API.
  /// - Parameters:
  ///   - document: returns an answer's document.
  ///   - place: writes further members of an answer.
  func writeMembers(
    to writer: inout JSONWriter, document: (Answer) -> UnsafeBufferPointer<UInt8>,
    place: (Answer, inout JSONWriter) -> Void = { _, _ in }
  ) {
    writer.key("answers")
    writer.array { writer in
      for answer in answers {
        writer.object { writer in
          place(answer, &writer)
          answer.writeMembers(document: document(answer), to: &writer)
        }
      }
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
    writer.key("stop")
    writer.string(stop.name.utf8)
    writer.key("is_question_truncated")
    writer.boolean(questionWasTruncated)
    writer.key("is_question_empty")
    writer.boolean(emptyInput == .emptyQuestion)
    writer.key("is_document_empty")
    writer.boolean(emptyInput == .emptyDocument)
  }
}

extension ReadingStop {
  fileprivate var name: String {
    switch self {
    case .all: "all"
    case .enough: "enough"
    case .limit: "limit"
    case .deadline: "deadline"
    case .cancelled: "cancelled"
    }
  }
}

extension Answer {
  fileprivate func writeMembers(document: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
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
