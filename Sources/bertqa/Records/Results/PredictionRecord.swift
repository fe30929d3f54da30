import BertQACore

/// The output of `bertqa predict` and `bertqa generate`. Names and meanings are those of the C API.
enum PredictionRecord {
  static func json(_ generation: Generation, prompt: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("prompt")
      writer.string(prompt)
      writer.key("text")
      writer.string(generation.text)
      writer.key("words")
      write(generation.words, to: &writer)
      writer.key("stop")
      writer.string(name(of: generation.stop))
      writer.key("unknown_count")
      writer.integer(generation.unknownCount)
    }
    return writer.takeLine()
  }

  static func json(_ prediction: Prediction, prompt: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("prompt")
      writer.string(prompt)
      writer.key("is_unknown")
      writer.boolean(prediction.isUnknown)
      writer.key("words")
      write(prediction.words, to: &writer)
    }
    return writer.takeLine()
  }

  private static func write(_ words: [PredictedWord], to writer: inout JSONWriter) {
    writer.array { writer in
      for word in words {
        writer.object { writer in
          writer.key("text")
          writer.string(word.bytes)
          writer.key("id")
          writer.integer(word.id)
          writer.key("probability")
          writer.number(word.probability)
          writer.key("log_probability")
          writer.number(word.logProbability)
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
    var bytes = Array("\(numbers)\t".utf8)
    PlainText.append(text, to: &bytes)
    return bytes + "\n".utf8
  }

  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      source.writeMembers(to: &writer)
      writer.key("text")
      writer.string(text)
      writer.key("log_likelihood")
      writer.number(Float(score.logLikelihood))
      writer.key("perplexity")
      writer.number(Float(score.perplexity))
      writer.key("word_count")
      writer.integer(score.wordCount)
      writer.key("unknown_count")
      writer.integer(score.unknownCount)
    }
    return writer.takeLine()
  }
}
