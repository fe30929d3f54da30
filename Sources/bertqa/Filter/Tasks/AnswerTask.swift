import BertQACore

/// Answers each question from a record's document. The first field of a record is the document, and the
/// following fields are questions.
struct AnswerTask: FilterTask {
  enum Question {
    /// The same question for all records.
    case fixed(ArgumentText)
    /// The question in the record's field with this index.
    case field(Int)
  }

  let context: Context
  let questions: [Question]
  let options: AnswerOptions

  /// The values of --fields.
  let fields: [Field]?

  enum Field: String, ResultField {
    case question, answer, sentence, score, probability, gap, start, end
    case byteStart = "byte_start"
    case byteEnd = "byte_end"
    case utf16Start = "utf16_start"
    case utf16End = "utf16_end"
    case isImpossible = "is_impossible"
    case nullScore = "null_score"
    case noAnswerProbability = "no_answer_probability"
    case windowCount = "window_count"

    static let usual: [Field] = [.answer, .score, .probability, .start, .end, .isImpossible]
  }

  /// With several questions, names are numbered from 1.
  var columns: [String] {
    let names = (fields ?? Field.usual).map(\.rawValue)
    guard questions.count > 1 else { return names }
    return (1...questions.count).flatMap { number in names.map { "\(number)_\($0)" } }
  }

  func results(
    for inputs: [TaskInput], _ call: CallOptions
  ) throws(BertQAError) -> [Result<[AnswerResult], BertQAError>] {
    var options = options
    options.call = call
    var pairs: [QuestionItem] = []
    for input in inputs {
      for question in questions {
        pairs.append(
          QuestionItem(question: text(of: question, for: input), document: .text(input.texts[0])))
      }
    }
    let results = try context.answerEach(pairs, options: options)
    return stride(from: 0, to: results.count, by: questions.count).map { first in
      var answered: [AnswerResult] = []
      for result in results[first..<first + questions.count] {
        switch result {
        case .success(let result): answered.append(result)
        // A record has either all its answers or none.
        case .failure(let error): return .failure(error)
        }
      }
      return .success(answered)
    }
  }

  func windowCount(of results: [AnswerResult]) -> Int { results.reduce(0) { $0 + $1.windowCount } }

  /// Writes one object, or an array of objects if there are several questions.
  func write(_ results: [AnswerResult], of input: TaskInput, to writer: inout JSONWriter) {
    if results.count == 1 { return write(results[0], to: questions[0], of: input, &writer) }
    writer.array { writer in
      for (result, question) in zip(results, questions) { write(result, to: question, of: input, &writer) }
    }
  }

  private func write(
    _ result: AnswerResult, to question: Question, of input: TaskInput, _ writer: inout JSONWriter
  ) {
    guard let fields else {
      return writer.object { writer in
        writer.string("question", text(of: question, for: input))
        result.writeMembers(to: &writer) { _ in input.texts[0] }
      }
    }
    func write(_ answer: Answer?, _ writer: inout JSONWriter) {
      writer.object(fields) { self.write($0, of: answer, result, to: question, input, &$1) }
    }
    guard options.topK > 1 else { return write(result.answers.first, &writer) }
    writer.array { writer in
      for answer in result.answers { write(answer, &writer) }
    }
  }

  func write(_ results: [AnswerResult], of input: TaskInput, to writer: inout CellWriter) {
    for (result, question) in zip(results, questions) {
      for field in fields ?? Field.usual {
        write(field, of: result.answers.first, result, to: question, input, &writer)
      }
    }
  }

  private func write(
    _ field: Field, of answer: Answer?, _ result: AnswerResult, to question: Question, _ input: TaskInput,
    _ writer: inout some ValueWriter
  ) {
    switch field {
    case .question: return writer.string(text(of: question, for: input))
    case .isImpossible: return writer.boolean(result.isImpossible)
    case .nullScore: return writer.number(result.nullScore)
    case .noAnswerProbability: return writer.number(result.noAnswerProbability)
    case .windowCount: return writer.integer(result.windowCount)
    case .gap: return writer.number(answer?.gap ?? result.gap)
    default: break
    }
    guard let answer else { return writer.null() }
    switch field {
    case .answer: writer.string(input.texts[0][answer.bytes.start..<answer.bytes.end])
    case .sentence: writer.string(input.texts[0][answer.sentence.start..<answer.sentence.end])
    case .score: writer.number(answer.score)
    case .probability: writer.number(answer.probability)
    case .start: writer.integer(answer.codePoints.start)
    case .end: writer.integer(answer.codePoints.end)
    case .byteStart: writer.integer(answer.bytes.start)
    case .byteEnd: writer.integer(answer.bytes.end)
    case .utf16Start: writer.integer(answer.utf16.start)
    case .utf16End: writer.integer(answer.utf16.end)
    default: break
    }
  }

  private func text(of question: Question, for input: TaskInput) -> UnsafeBufferPointer<UInt8> {
    switch question {
    case .fixed(let text): text.bytes
    case .field(let index): input.texts[index]
    }
  }
}
