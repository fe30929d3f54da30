import Testing

@testable import BertQACore

@Suite struct WindowTests {
  static let tokenizer = FakeTokenizer(["who", "left", "right", "and", "filler"])

  static func filler(_ count: Int) -> String { String(repeating: "filler ", count: count) }

  @Test func neighboursShareTheStrideAndTheLastReachesTheEnd() throws {
    for (count, room, overlap) in [(1, 10, 3), (10, 10, 3), (11, 10, 3), (100, 10, 9), (95, 12, 0)] {
      let windows = try TokenWindow.layout(tokenCount: count, room: room, overlap: overlap)
      #expect(windows.first?.firstToken == 0)
      #expect(windows.last?.endToken == count)
      for (window, next) in zip(windows, windows.dropFirst()) {
        #expect(window.tokenCount == room)
        #expect(window.endToken - next.firstToken == overlap)
        #expect(next.endToken > window.endToken)
      }
    }
  }

  @Test func aListOfWindowsBeyondAllMemoryIsRefused() {
    let error = failure { _ = try TokenWindow.layout(tokenCount: 1 << 29, room: 300, overlap: 299) }
    #expect(error?.status == .tooLarge)
  }

  @Test func windowsAreLaidOutForTheModel() throws {
    let model = FakeModel { ids, position in
      #expect(Array(ids.prefix(3)) == [0, Self.tokenizer.id("who"), 1])
      #expect(ids.last == 1)
      return (0, 0)
    }
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 14
      $0.documentStride = 4
    }
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", Self.filler(100), options)
    #expect(result.windowCount == 16)
    #expect(model.windowsPerCall.withLock { $0 } == [16])
  }

  /// By default windows have the length that the model's family is made for.
  @Test func modelsForLongTextsReadLongWindows() throws {
    var answerer = QuestionAnswerer(Self.tokenizer, FakeModel { _, _ in (0, 0) }, maxPositions: 600)
    answerer.defaultSequenceLength = 600
    #expect(try answerer.ask("who", Self.filler(500), AnswerOptions()).windowCount == 1)
    let short = AnswerOptions.with { $0.maxSequenceLength = 384 }
    #expect(try answerer.ask("who", Self.filler(500), short).windowCount == 2)
    let context = try Context(tiny: "tiny-longformer")
    let document = String(repeating: "the ", count: 150)
    #expect(try context.answer(question: "who", document: document).windowCount == 1)
    let windows = try context.answer(
      question: "who", document: document, options: .with { $0.maxSequenceLength = 64 })
    #expect(windows.windowCount > 1)
  }

  /// An answer that the border of a window cuts, at every possible place.
  @Test func anAnswerAcrossABorderIsFoundWithTheSameScoreAnywhere() throws {
    let model = FakeModel.marking(
      start: Self.tokenizer.id("left"), end: Self.tokenizer.id("right"))
    let answerer = QuestionAnswerer(Self.tokenizer, model)
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 20
      $0.documentStride = 5
    }
    for before in 0..<40 {
      let document = Self.filler(before) + "left and and right " + Self.filler(45 - before)
      let result = try answerer.ask("who", document, options)
      #expect(result.answers.first?.bytes.text(in: document) == "left and and right")
      #expect(result.answers.first?.score == 10)
      #expect(result.nullScore == 0)
      #expect(!result.isImpossible)
    }
  }

  @Test func theNullScoreIsTheLeastOfAllWindows() throws {
    let model = FakeModel { ids, position in
      position > 0 ? (-3, -3) : ids.contains(Self.tokenizer.id("left")) ? (-1, -1) : (1, 1)
    }
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 12
      $0.documentStride = 0
    }
    let document = Self.filler(30) + "left " + Self.filler(30)
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("who", document, options)
    #expect(result.nullScore == -2)
    #expect(result.gap == -4)
    #expect(result.isImpossible)
  }

  @Test func anAnswerSaysWhichWindowOfTheDocumentGaveIt() throws {
    let model = FakeModel.marking(
      start: Self.tokenizer.id("left"), end: Self.tokenizer.id("left"))
    let options = AnswerOptions.with {
      $0.maxSequenceLength = 14
      $0.documentStride = 0
      $0.maxWindows = 2
    }
    let document = Self.filler(35) + "left " + Self.filler(30)
    let result = try QuestionAnswerer(Self.tokenizer, model).ask("left", document, options)
    #expect(result.answers.first?.windowIndex == 3)
    #expect(result.windowCount == 2)
    #expect(result.skippedWindowCount == 5)
  }
}
