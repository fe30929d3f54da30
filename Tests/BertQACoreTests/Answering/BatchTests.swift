import Synchronization
import Testing

@testable import BertQACore

@Suite struct BatchTests {
  static let tokenizer = SpanSearchTests.tokenizer

  static let options = AnswerOptions.with {
    $0.maxSequenceLength = 24
    $0.documentStride = 8
    // Longer than a window: a question can leave no room to the document.
    $0.maxQuestionLength = 64
    $0.topK = 4
  }

  struct Texts {
    var random = TestRandom(99)
    var documents: [[UInt8]] = []
    var questions: [[UInt8]] = []

    init(_ count: Int) {
      for index in 0..<count {
        let words = [0, 1, 5, 40, 200][index % 5]
        documents.append(Array(SpanSearchTests.randomDocument(words, &random).utf8))
        questions.append(Array(["who", "who a b ?", "", "c"][index % 4].utf8))
      }
    }

    /// All pairs in one call.
    func ask(_ answerer: QuestionAnswerer, prepared: Bool) throws -> [AnswerResult] {
      var pairs: [QuestionItem] = []
      var copies: [UnsafeMutableBufferPointer<UInt8>] = []
      defer { copies.forEach { $0.deallocate() } }
      func copy(_ bytes: [UInt8]) -> UnsafeBufferPointer<UInt8> {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        copies.append(copy)
        return UnsafeBufferPointer(copy)
      }
      for (question, document) in zip(questions, documents) {
        let text = copy(document)
        pairs.append(
          QuestionItem(
            question: copy(question),
            document: prepared ? .prepared(try answerer.prepare(text)) : .text(text)))
      }
      return try answerer.answer(pairs, BatchTests.options)
    }
  }

  @Test func resultsDoNotDependOnBatchOrSlices() throws {
    let texts = Texts(40)
    let model = FakeModel.random(seed: 5)
    var answerer = QuestionAnswerer(Self.tokenizer, model)
    let alone = try zip(texts.questions, texts.documents).map {
      try answerer.ask(String(decoding: $0, as: UTF8.self), $1, Self.options)
    }
    #expect(Set(alone.map(\.windowCount)).count > 3)
    for sliceTokens in [1, 25, 1000, 65_536] {
      answerer.reader.sliceTokens = sliceTokens
      model.windowsPerCall.withLock { $0.removeAll() }
      #expect(try texts.ask(answerer, prepared: sliceTokens == 25) == alone)
      let calls = model.windowsPerCall.withLock { $0 }
      #expect(calls.reduce(0, +) == alone.reduce(0) { $0 + $1.windowCount })
      #expect(calls.allSatisfy { $0 * 6 <= sliceTokens + 24 })
    }
  }

  @Test func anEmptyBatchIsFine() throws {
    let answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 1))
    #expect(try answerer.answer([], Self.options).isEmpty)
  }

  @Test func anErrorNamesItsPair() {
    let answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 1))
    let tooLong = Array(String(repeating: "who ", count: 20).utf8)
    let error = failure {
      try tooLong.withUnsafeBufferPointer { long in
        let short = UnsafeBufferPointer(rebasing: long.prefix(3))
        _ = try answerer.answer(
          [short, short, long].map { QuestionItem(question: $0, document: .text(short)) },
          Self.options)
      }
    }
    #expect(error?.status == .invalidArgument)
    #expect(error?.message.hasPrefix("pairs[2]: the question's 20 tokens") == true)
    #expect(error?.item == 2)
  }

  @Test func oneBadPairDoesNotLoseTheOthers() throws {
    let model = FakeModel.random(seed: 1)
    var answerer = QuestionAnswerer(Self.tokenizer, model)
    answerer.reader.sliceTokens = 1
    let tooLong = Array(String(repeating: "who ", count: 20).utf8)
    let document = Array(String(repeating: "a b c ", count: 30).utf8)
    try tooLong.withUnsafeBufferPointer { long in
      try document.withUnsafeBufferPointer { document in
        let short = UnsafeBufferPointer(rebasing: long.prefix(3))
        let pairs = [short, long, short, long].map {
          QuestionItem(question: $0, document: .text(document))
        }
        let results = try answerer.answerEach(pairs, Self.options)
        let alone = try answerer.answer([pairs[0]], Self.options)[0]
        #expect(results.count == 4)
        for (index, result) in results.enumerated() {
          switch result {
          case .success(let result): #expect(index % 2 == 0 && result == alone)
          case .failure(let error): #expect(index % 2 == 1 && error.item == index)
          }
        }
      }
    }
  }

  @Test func aDocumentOfManyPairsIsTokenizedOnce() throws {
    let tokenizer = FakeTokenizer(["who", "a"])
    let answerer = QuestionAnswerer(tokenizer, .random(seed: 1))
    let text = Array("a a a".utf8)
    try text.withUnsafeBufferPointer { document in
      try Array("who".utf8).withUnsafeBufferPointer { question in
        let pairs = [QuestionItem](
          repeating: QuestionItem(question: question, document: .text(document)), count: 7)
        _ = try answerer.answer(pairs, Self.options)
      }
    }
    // Seven questions and one document.
    #expect(tokenizer.textsRead.withLock { $0 } == 8)
  }

  @Test func onePreparedDocumentServesManyThreads() async throws {
    let answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 6))
    var random = TestRandom(3)
    let text = SpanSearchTests.randomDocument(300, &random)
    let document = try answerer.prepare(text)
    #expect(document.byteCount == text.utf8.count)
    let expected = try answerer.ask("who", text, Self.options)
    await withTaskGroup(of: AnswerResult?.self) { group in
      for _ in 0..<16 {
        group.addTask {
          Array("who".utf8).withUnsafeBufferPointer {
            try? answerer.answer(question: $0, document: document, options: Self.options)
          }
        }
      }
      for await result in group { #expect(result == expected) }
    }
  }

  @Test func aDocumentOfAnotherContextIsRefused() throws {
    let other = QuestionAnswerer(FakeTokenizer(["a"]), .random(seed: 1))
    let document = try other.prepare("a a")
    let answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 1))
    let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    let error = failure {
      _ = try answerer.answer(question: none, document: document, options: Self.options)
    }
    #expect(error?.status == .invalidArgument)
  }

  @Test func cancellationIsAskedBeforeEverySlice() throws {
    var answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 1))
    answerer.reader.sliceTokens = 1
    let document = String(repeating: "a ", count: 2000)
    final class Count: Sendable { let value = Mutex(0) }
    let asked = Count()
    var options = Self.options
    options.call.cancellation = Cancellation {
      asked.value.withLock {
        $0 += 1
        return $0 > 10
      }
    }
    let error = failure { _ = try answerer.ask("who", document, options) }
    #expect(error?.status == .cancelled)
    #expect(asked.value.withLock { $0 } == 11)
  }

  @Test func progressCountsEveryWindow() throws {
    var answerer = QuestionAnswerer(Self.tokenizer, .random(seed: 1))
    answerer.reader.sliceTokens = 1
    final class Reports: Sendable { let value = Mutex<[[Int]]>([]) }
    let reports = Reports()
    var options = Self.options
    options.call.progress = { done, total in reports.value.withLock { $0.append([done, total]) } }
    let result = try answerer.ask("who", String(repeating: "a ", count: 100), options)
    let total = result.windowCount
    #expect(total > 1)
    #expect(reports.value.withLock { Set($0) } == Set((0...total).map { [$0, total] }))
    #expect(reports.value.withLock { $0.map { $0[0] } == $0.map { $0[0] }.sorted() })
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity, 3e38]) func badLogitsAreAnError(_ bad: Float) {
    for (place, isStart) in [(0, true), (0, false), (3, true), (5, false)] {
      let model = FakeModel { _, position in
        position == place ? (isStart ? bad : 0, isStart ? 0 : bad) : (0, 0)
      }
      let error = failure {
        _ = try QuestionAnswerer(Self.tokenizer, model).ask("who", "a b c", Self.options)
      }
      #expect(error?.status == .invalidModel)
    }
  }

  @Test func aModelThatReturnsTooFewLogitsIsAnError() {
    struct Silent: WindowModel {
      func outputs(
        of batch: WindowBatch, giving input: HeadInput?, _ monitor: CallMonitor?
      ) throws(BertQAError) -> HeadOutputs { HeadOutputs(input: .tokens, columns: 2, values: []) }
    }
    let answerer = QuestionAnswerer(
      reader: WindowReader(tokenizer: Self.tokenizer, model: Silent(), maxPositions: 64),
      decision: AnswerDecision())
    #expect(failure { _ = try answerer.ask("who", "a", Self.options) }?.status == .internal)
  }
}
