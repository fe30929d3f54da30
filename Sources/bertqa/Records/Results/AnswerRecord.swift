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
      writer.string("file", file.bytes)
      writer.string("question", question.bytes)
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
    writer.array("answers") { writer in
      for answer in answers {
        writer.object { writer in
          place(answer, &writer)
          answer.writeMembers(document: document(answer), to: &writer)
        }
      }
    }
    writer.boolean("is_impossible", isImpossible)
    writer.number("null_score", nullScore)
    writer.number("gap", gap)
    writer.number("no_answer_probability", noAnswerProbability)
    writer.integer("window_count", windowCount)
    writer.integer("skipped_window_count", skippedWindowCount)
    writer.string("stop", stop.name.utf8)
    writer.boolean("is_question_truncated", questionWasTruncated)
    writer.boolean("is_question_empty", emptyInput == .emptyQuestion)
    writer.boolean("is_document_empty", emptyInput == .emptyDocument)
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
    writer.object("sentence") { writer in
      writer.string("text", document[sentence.start..<sentence.end])
      writer.range("bytes", sentence)
    }
    writer.number("score", score)
    writer.number("probability", probability)
    writer.number("gap", gap)
  }
}
