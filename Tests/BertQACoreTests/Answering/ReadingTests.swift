import Testing

@testable import BertQACore

/// Which sections are read, and several documents as one collection.
@Suite struct ReadingTests {
  static let tokenizer = FakeTokenizer(["who", "left", "right", "filler", ".", "a", "b"])
  static let options = AnswerOptions.with { $0.maxSequenceLength = 24 }

  /// Sections of 18 tokens, each a paragraph; the numbered ones end with a text.
  static func document(_ sections: Int, _ texts: [Int: String] = [:]) -> String {
    (0..<sections).map { index in
      let end = texts[index] ?? "filler"
      let words = end.split(separator: " ").count
      return "Filler" + String(repeating: " filler", count: 16 - words) + " " + end + "."
    }.joined(separator: "\n\n")
  }

  static func marking() -> FakeModel { .marking(start: tokenizer.id("left"), end: tokenizer.id("right")) }

  static func ask(
    _ question: String, _ documents: [String], _ model: FakeModel = marking(),
    _ options: AnswerOptions = options
  ) throws -> AnswerResult {
    try withBytes(of: [question] + documents) { texts throws(BertQAError) in
      try QuestionAnswerer(tokenizer, model).answer(
        [QuestionItem(question: texts[0], documents: texts.dropFirst().map { .text($0) })], options)[0]
    }
  }

  @Test func aSureAnswerIsEnough() throws {
    let model = Self.marking()
    let result = try Self.ask("who", [Self.document(30, [17: "who left right"])], model)
    #expect(
      result.answers[0].windowIndex == 17 && result.answers[0].score == 10 && result.answers[0].gap == 10)
    #expect(result.windowCount == 3 && result.skippedWindowCount == 27 && result.stop == .enough)
    #expect(model.windowsPerCall.withLock { $0 } == [3])
  }

  /// Sections with the question's word but no answer come first.
  @Test func furtherSectionsAreReadInRounds() throws {
    var texts = [25: "who left right"]
    for index in [3, 6, 9, 12] { texts[index] = "who who" }
    let model = Self.marking()
    let result = try Self.ask("who", [Self.document(30, texts)], model)
    #expect(result.answers[0].windowIndex == 25 && result.stop == .enough)
    #expect(model.windowsPerCall.withLock { $0 } == [3, 3])
  }

  @Test func withoutASureAnswerSevenAreRead() throws {
    let result = try Self.ask("who", [Self.document(30, [4: "who"])])
    #expect(result.windowCount == 7 && result.skippedWindowCount == 23 && result.stop == .limit)
    let fewer = try Self.ask("who", [Self.document(7, [4: "who"])])
    #expect(fewer.windowCount == 7 && fewer.skippedWindowCount == 0 && fewer.stop == .all)
  }

  @Test(arguments: [(127, 7), (128, 10), (300, 13)]) func moreAreReadOfMore(sections: Int, most: Int) throws {
    let result = try Self.ask("who", [Self.document(sections, [4: "who"])])
    #expect(
      result.windowCount == most && result.skippedWindowCount == sections - most && result.stop == .limit)
  }

  @Test func withoutAWordOfTheQuestionAllAreRead() throws {
    let result = try Self.ask("a", [Self.document(30, [28: "left right"])])
    #expect(result.windowCount == 30 && result.stop == .all && result.answers[0].windowIndex == 28)
  }

  @Test(arguments: [1, 3, 30, 99]) func theLimitIsOneForAllDocuments(limit: Int) throws {
    let documents = [Self.document(10), Self.document(10, [3: "who"]), Self.document(10)]
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 24
      $0.maxWindows = limit
    }
    let result = try Self.ask("who", documents, Self.marking(), options)
    #expect(result.windowCount == min(limit, 30) && result.stop == (limit < 30 ? .limit : .all))
    var all = options
    all.maxWindows = -1
    #expect(try Self.ask("who", documents, Self.marking(), all).windowCount == 30)
  }

  @Test func theRankDecidesBetweenLikeScores() throws {
    // The same scores in both, but the second has more of the question's words.
    let result = try Self.ask("who a", [Self.document(2, [0: "left right", 1: "who a left b right"])])
    #expect(result.answers[0].windowIndex == 1 && result.answers[0].gap == 10)
    let other = try Self.ask("who a", [Self.document(2, [0: "who a filler", 1: "left right"])])
    #expect(other.answers[0].windowIndex == 1 && other.answers[0].gap == 7 && other.answers[0].score == 10)
    #expect(other.nullScore == 0 && other.gap == 7)
  }

  @Test func rangesAreThoseOfTheAnswersDocument() throws {
    let documents = [Self.document(3), "", "é left a right. ", Self.document(2)]
    let result = try Self.ask("who", documents)
    let answer = try #require(result.answers.first)
    #expect(answer.documentIndex == 2 && answer.bytes.text(in: documents[2]) == "left a right")
    #expect(answer.sentence.text(in: documents[2]) == "é left a right.")
    #expect(answer.bytes.start == 3 && answer.codePoints.start == 2 && answer.windowIndex == 0)
  }

  @Test func answersOfAllDocumentsAreOneList() throws {
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 24
      $0.topK = 3
    }
    let result = try Self.ask("who", ["who left right", "left a right", "a b"], Self.marking(), options)
    #expect(result.answers.map(\.documentIndex) == [0, 1, 0])
    #expect(result.answers.map(\.gap) == result.answers.map(\.gap).sorted(by: >))
    #expect(result.answers.map(\.probability).reduce(result.noAnswerProbability, +) <= 1 + 1e-5)
  }

  @Test func aListWithoutATextOrADocument() throws {
    #expect(try Self.ask("who", ["", " "]).emptyInput == .emptyDocument)
    #expect(failure { _ = try Self.ask("who", []) }?.argument == "documents")
  }

  /// Prepared or not, alone or in a batch.
  @Test(arguments: 0..<20) func resultsDoNotDependOnTheBatch(seed: UInt64) throws {
    var random = TestRandom(seed)
    let sets = (0..<12).map { _ in
      (0..<Int.random(in: 1...5, using: &random)).map { _ in
        SpanSearchTests.randomDocument(Int.random(in: 0...120, using: &random), &random)
      }
    }
    let questions = sets.map { _ in ["who", "a ?", "b c a", ""].randomElement(using: &random)! }
    var answerer = QuestionAnswerer(SpanSearchTests.tokenizer, .random(seed: seed))
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 16
      $0.topK = 5
    }
    let alone = try zip(questions, sets).map { question, documents in
      try withBytes(of: [question] + documents) { texts throws(BertQAError) in
        try answerer.answer(
          [QuestionItem(question: texts[0], documents: texts.dropFirst().map { .text($0) })], options)[0]
      }
    }
    #expect(Set(alone.map(\.stop)).count > 1)
    for sliceTokens in [1, 40, 65_536] {
      answerer.reader.sliceTokens = sliceTokens
      let asked = answerer
      let together = try withBytes(of: questions + sets.flatMap { $0 }) { texts throws(BertQAError) in
        var items: [QuestionItem] = []
        var next = questions.count
        for (index, set) in sets.enumerated() {
          let documents = try texts[next..<next + set.count].checkedMap { text throws(BertQAError) in
            sliceTokens == 40 ? QuestionItem.Document.prepared(try asked.prepare(text)) : .text(text)
          }
          items.append(QuestionItem(question: texts[index], documents: documents))
          next += set.count
        }
        return try asked.answer(items, options)
      }
      #expect(together == alone)
    }
  }
}
