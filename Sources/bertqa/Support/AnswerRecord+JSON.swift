import BertQACore

extension AnswerRecord {
  /// One object, on one line. Names and meanings are those of the C API.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("file")
      writer.string(file.bytes)
      writer.key("question")
      writer.string(question.bytes)
      writer.key("answers")
      writer.array { writer in
        for answer in result.answers { write(answer, to: &writer) }
      }
      writer.key("is_impossible")
      writer.boolean(result.isImpossible)
      writer.key("null_score")
      writer.number(result.nullScore)
      writer.key("best_gap")
      writer.number(result.gap)
      writer.key("no_answer_probability")
      writer.number(result.noAnswerProbability)
      writer.key("window_count")
      writer.integer(result.windowCount)
      writer.key("skipped_windows")
      writer.integer(result.skippedWindowCount)
      writer.key("question_truncated")
      writer.boolean(result.questionWasTruncated)
      writer.key("empty_question")
      writer.boolean(result.emptyInput == .emptyQuestion)
      writer.key("empty_document")
      writer.boolean(result.emptyInput == .emptyDocument)
    }
    return writer.takeLine()
  }

  private func write(_ answer: Answer, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("text")
      writer.string(text(answer.bytes))
      writer.key("bytes")
      writer.range(answer.bytes)
      writer.key("code_points")
      writer.range(answer.codePoints)
      writer.key("utf16")
      writer.range(answer.utf16)
      writer.key("sentence")
      writer.object { writer in
        writer.key("text")
        writer.string(text(answer.sentence))
        writer.key("bytes")
        writer.range(answer.sentence)
      }
      writer.key("score")
      writer.number(answer.score)
      writer.key("probability")
      writer.number(answer.probability)
      writer.key("gap")
      writer.number(answer.gap)
    }
  }
}
