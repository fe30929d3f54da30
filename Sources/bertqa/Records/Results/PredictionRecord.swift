import BertQACore

/// The output of `bertqa predict` and `bertqa generate`. Names and meanings are those of the C API.
enum PredictionRecord {
  static func json(
    _ generation: Generation, _ source: TextSource, prompt: UnsafeBufferPointer<UInt8>
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      writer.string("prompt", prompt)
      writer.string("text", generation.text)
      write(generation.words, to: &writer)
      writer.string("stop", name(of: generation.stop))
      writer.integer("unknown_count", generation.unknownCount)
    }
    return writer.takeLine()
  }

  static func json(
    _ prediction: Prediction, _ source: TextSource, prompt: UnsafeBufferPointer<UInt8>
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      writer.string("prompt", prompt)
      writer.boolean("is_unknown", prediction.isUnknown)
      write(prediction.words, to: &writer)
    }
    return writer.takeLine()
  }

  private static func write(_ words: [PredictedWord], to writer: inout JSONWriter) {
    writer.array("words") { writer in
      for word in words {
        writer.object { writer in
          writer.string("text", word.bytes)
          writer.integer("id", word.id)
          writer.number("probability", word.probability)
          writer.number("log_probability", word.logProbability)
        }
      }
    }
  }

  private static func name(of stop: GenerationStop) -> String {
    switch stop {
    case .end: "end"
    case .limit: "limit"
    case .callback: "callback"
    }
  }
}

/// The likelihood of one text.
struct LineScore {
  let text: UnsafeBufferPointer<UInt8>
  let source: TextSource
  let score: SequenceScore

  func columns() -> [UInt8] {
    let numbers = "\(decimal(score.perplexity, digits: 4))\t\(decimal(score.logLikelihood, digits: 4))"
    return columns("\(numbers)\t\(score.wordCount)\t\(score.unknownCount)")
  }

  func rankColumns() -> [UInt8] { columns("\(decimal(score.logLikelihood, digits: 4))\t\(score.wordCount)") }

  private func columns(_ numbers: String) -> [UInt8] {
    var bytes = source.column + "\(numbers)\t".utf8
    PlainText.append(text, to: &bytes)
    return bytes + "\n".utf8
  }

  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      writer.string("text", text)
      writer.number("log_likelihood", Float(score.logLikelihood))
      writer.number("perplexity", Float(score.perplexity))
      writer.integer("word_count", score.wordCount)
      writer.integer("unknown_count", score.unknownCount)
    }
    return writer.takeLine()
  }
}
