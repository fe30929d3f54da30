import BertQACore

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
    writer.key("best_gap")
    writer.number(gap)
    writer.key("no_answer_probability")
    writer.number(noAnswerProbability)
    writer.key("window_count")
    writer.integer(windowCount)
    writer.key("skipped_windows")
    writer.integer(skippedWindowCount)
    writer.key("question_truncated")
    writer.boolean(questionWasTruncated)
    writer.key("empty_question")
    writer.boolean(emptyInput == .emptyQuestion)
    writer.key("empty_document")
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
