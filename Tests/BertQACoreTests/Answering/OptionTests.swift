import Testing

@testable import BertQACore

@Suite struct OptionTests {
  static let tokenizer = FakeTokenizer(["who", "a", "b"])

  static func failing(_ change: (inout AnswerOptions) -> Void, question: String = "who") -> BertQAError? {
    failure {
      _ = try QuestionAnswerer(tokenizer, FakeModel { _, _ in (0, 0) })
        .ask(question, "a b a b", AnswerOptions.with(change))
    }
  }

  @Test func defaultsAreValid() throws {
    #expect(Self.failing { _ in } == nil)
  }

  @Test func errorsNameOptionValueAndRange() {
    let cases: [(String, (inout AnswerOptions) -> Void)] = [
      ("top_k is 0, but must be 1 to 1000", { $0.topK = 0 }),
      ("top_k is 1001, but must be 1 to 1000", { $0.topK = 1001 }),
      ("max_seq_len is 7, but must be at least 8; the model takes 512", { $0.maxSequenceLength = 7 }),
      ("doc_stride is -1, but must be 0 to 379", { $0.documentStride = -1 }),
      ("doc_stride is 380, but must be 0 to 379", { $0.documentStride = 380 }),
      ("max_answer_len is 0, but", { $0.maxAnswerLength = 0 }),
      ("max_question_len is 0, but", { $0.maxQuestionLength = 0 }),
      ("n_best_size is 1001, but must be 0 to 1000", { $0.nBestSize = 1001 }),
      ("max_windows is -2, but must be at least -1", { $0.maxWindows = -2 }),
      ("no_answer_threshold is not a number", { $0.noAnswerThreshold = .nan }),
    ]
    for (message, change) in cases {
      let error = Self.failing(change)
      #expect(error?.status == .invalidArgument)
      #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "no error")")
    }
  }

  /// The special tokens are the model's.
  @Test(arguments: 1...12) func specialTokensThatLeaveNoRoomAreRefused(special: Int) {
    let template = Template(prefix: [Int32](repeating: 0, count: special), separator: [], suffix: [])
    let answerer = QuestionAnswerer(FakeTokenizer([], template: template), .random(seed: 1))
    let options = AnswerOptions.with { ($0.maxSequenceLength, $0.documentStride) = (8, 0) }
    let error = failure { _ = try AnswerSettings(options, answerer) }
    #expect(error?.argument == (special > 6 ? "max_seq_len" : nil), "\(error?.message ?? "no error")")
  }

  @Test(arguments: 8...64) func aShortWindowAloneIsNoError(length: Int) {
    for words in [1, 5, 100] {
      let question = String(repeating: "who ", count: words)
      #expect(Self.failing({ $0.maxSequenceLength = length }, question: question) == nil)
    }
  }

  @Test func extremesAreErrorsOrResultsNeverTraps() {
    for value in [Int.min, -1, 0, 1, 9, 513, Int.max] {
      _ = Self.failing { $0.topK = value }
      _ = Self.failing { $0.maxSequenceLength = value }
      _ = Self.failing { $0.documentStride = value }
      _ = Self.failing { $0.maxAnswerLength = value }
      _ = Self.failing { $0.maxQuestionLength = value }
      _ = Self.failing { $0.nBestSize = value }
      #expect((Self.failing { $0.maxWindows = value } == nil) == (value >= -1))
    }
  }

  @Test(arguments: 0...4) func ranksAreOnePerDocumentOrNone(count: Int) {
    let answerer = QuestionAnswerer(Self.tokenizer, FakeModel { _, _ in (0, 0) })
    let error = failure {
      try withBytes(of: ["who", "a b", "b a", "a a"]) { texts throws(BertQAError) in
        let documents = texts.dropFirst().map { QuestionItem.Document.text($0) }
        let ranks = [Double](repeating: 1, count: count)
        _ = try answerer.answer(
          [QuestionItem(question: texts[0], documents: documents, ranks: ranks)], AnswerOptions())
      }
    }
    #expect((error == nil) == (count == 0 || count == 3))
    #expect(error?.message.hasPrefix("ranks has \(count) elements for 3 documents") != false)
    #expect(error == nil || error?.status == .invalidArgument)
  }

  @Test func aQuestionThatLeavesNoRoomIsAnError() {
    let change: (inout AnswerOptions) -> Void = {
      $0.maxSequenceLength = 20
      $0.documentStride = 10
    }
    let question = "who a b a b a b a"
    #expect(Self.failing(change, question: "who a b a b a") == nil)
    #expect(
      Self.failing(change, question: question)?.message.hasPrefix(
        "the question's 8 tokens and 3 special tokens leave 9 of max_seq_len 20 to the document, but "
          + "doc_stride 10 needs at least 11") == true)
    #expect(
      Self.failing(
        {
          change(&$0)
          $0.maxQuestionLength = 6
        }, question: question) == nil)
  }

  @Test func aLongQuestionIsCutAndTheResultSaysSo() throws {
    let model = FakeModel { ids, _ in
      #expect(ids.firstIndex(of: 1) == ids.startIndex + 4)
      return (0, 0)
    }
    let options = AnswerOptions.with { $0.maxQuestionLength = 3 }
    let answerer = QuestionAnswerer(Self.tokenizer, model)
    #expect(try answerer.ask("who a b a", "a b", options).questionWasTruncated)
    #expect(try !answerer.ask("who a b", "a b", options).questionWasTruncated)
  }

  @Test func theThresholdDecidesAndTheOptionOverridesTheModel() throws {
    // Every candidate scores 4, no answer 1: the gap is 3.
    let model = FakeModel { _, position in position == 0 ? (0, 1) : (2, 2) }
    func ask(_ threshold: Float, _ change: (inout AnswerOptions) -> Void = { _ in }) throws -> AnswerResult {
      try QuestionAnswerer(Self.tokenizer, model, threshold: threshold)
        .ask("who", "a b", AnswerOptions.with(change))
    }
    #expect(try !ask(3).isImpossible)
    #expect(try ask(3.5).isImpossible)
    #expect(try ask(3.5).answers.count == 1)
    #expect(try ask(3.5) { $0.handlesImpossibleAnswer = true }.answers.isEmpty)
    #expect(try ask(3) { $0.handlesImpossibleAnswer = true }.answers.count == 1)
    #expect(try !ask(3.5) { $0.noAnswerThreshold = -1 }.isImpossible)
    #expect(try ask(3) { $0.noAnswerThreshold = 3.5 }.isImpossible)
    #expect(try ask(3.5) { $0.handlesImpossibleAnswer = true }.gap == 3)
  }
}
