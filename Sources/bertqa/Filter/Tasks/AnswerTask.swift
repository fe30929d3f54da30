import BertQACore

/// Answers each question from a record's document: the first field of a record is the document, those behind
/// it are questions.
struct AnswerTask: FilterTask {
  enum Question {
    /// The same for all records.
    case fixed(ArgumentText)
    /// In the record's field with this index.
    case field(Int)
  }

  let context: Context
  let questions: [Question]
  let options: AnswerOptions

  private static let names = ["answer", "score", "probability", "start", "end", "is_impossible"]

  /// With several questions, numbered from 1.
  var columns: [String] {
    guard questions.count > 1 else { return Self.names }
    return (1...questions.count).flatMap { number in Self.names.map { "\(number)_\($0)" } }
  }

  func results(for inputs: [TaskInput]) throws(BertQAError) -> [Result<[AnswerResult], BertQAError>] {
    var pairs: [(question: UnsafeBufferPointer<UInt8>, document: UnsafeBufferPointer<UInt8>)] = []
    for input in inputs {
      for question in questions { pairs.append((text(of: question, for: input), input.texts[0])) }
    }
    let results = try context.answerEach(pairs, options: options)
    return stride(from: 0, to: results.count, by: questions.count).map { first in
      var answered: [AnswerResult] = []
      for result in results[first..<first + questions.count] {
        switch result {
        case .success(let result): answered.append(result)
        // A record has all its answers or none.
        case .failure(let error): return .failure(error)
        }
      }
      return .success(answered)
    }
  }

  func windowCount(of results: [AnswerResult]) -> Int { results.reduce(0) { $0 + $1.windowCount } }

  /// One object, or an array of them where there are several questions.
  func write(_ results: [AnswerResult], of input: TaskInput, to writer: inout JSONWriter) {
    if results.count == 1 { return write(results[0], to: questions[0], of: input, &writer) }
    writer.array { writer in
      for (result, question) in zip(results, questions) { write(result, to: question, of: input, &writer) }
    }
  }

  private func write(
    _ result: AnswerResult, to question: Question, of input: TaskInput, _ writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.key("question")
      writer.string(text(of: question, for: input))
      result.writeMembers(document: input.texts[0], to: &writer)
    }
  }

  func write(_ results: [AnswerResult], of input: TaskInput, to writer: inout CellWriter) {
    for result in results {
      if let answer = result.answers.first {
        writer.text(input.texts[0][answer.bytes.start..<answer.bytes.end])
        writer.number(answer.score)
        writer.number(answer.probability)
        writer.integer(answer.codePoints.start)
        writer.integer(answer.codePoints.end)
      } else {
        for _ in 0..<5 { writer.empty() }
      }
      writer.boolean(result.isImpossible)
    }
  }

  private func text(of question: Question, for input: TaskInput) -> UnsafeBufferPointer<UInt8> {
    switch question {
    case .fixed(let text): text.bytes
    case .field(let index): input.texts[index]
    }
  }
}
