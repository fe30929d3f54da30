import Synchronization
import Testing

@testable import BertQACore

/// Results of calls that were stopped.
@Suite struct PartialTests {
  /// The calls of the model that have begun.
  private final class Calls: Sendable {
    let begun = Mutex(0)
  }

  /// Options of a call that is cancelled before the model's call number `calls` + 1. The progress is reported before
  /// each: the hook is polled at other times, too.
  private static func options(calls: Int, maxWindows: Int = -1) -> AnswerOptions {
    let made = Calls()
    return .with {
      $0.maxSequenceLength = 24
      $0.maxWindows = maxWindows
      $0.allowsPartial = true
      $0.topK = 3
      $0.call.progress = { _, _ in made.begun.withLock { $0 += 1 } }
      $0.call.cancellation = Cancellation { made.begun.withLock { $0 } > calls }
    }
  }

  @Test func theBestRanksAreReadFirst() throws {
    let model = ReadingTests.marking()
    let document = ReadingTests.document(40, [3: "left right", 33: "who left right"])
    let result = try ReadingTests.ask("who", [document], model, Self.options(calls: 1))
    #expect(result.windowCount == 8 && result.skippedWindowCount == 32 && result.stop == .cancelled)
    #expect(result.answers[0].windowIndex == 33)
    // As if no more had been asked for, but for the reason.
    let limited = AnswerOptions.with {
      $0.maxSequenceLength = 24
      $0.maxWindows = 8
      $0.topK = 3
    }
    let other = try ReadingTests.ask("who", [document], ReadingTests.marking(), limited)
    #expect(result.answers == other.answers && result.gap == other.gap && other.stop == .limit)
  }

  @Test func withoutAStopNothingChanges() throws {
    for (limit, texts) in [(-1, [3: "left right"]), (0, [9: "who"]), (11, [1: "who left right"])] {
      for stride in [nil, 4] {
        var options = Self.options(calls: .max, maxWindows: limit)
        options.documentStride = stride
        let document = ReadingTests.document(30, texts)
        let result = try ReadingTests.ask("who", [document, document], ReadingTests.marking(), options)
        options.allowsPartial = false
        options.call = CallOptions()
        #expect(
          try result == ReadingTests.ask("who", [document, document], ReadingTests.marking(), options))
      }
    }
  }

  @Test func withoutAWindowThereAreNoAnswers() throws {
    let model = ReadingTests.marking()
    let document = ReadingTests.document(30, [3: "who left right"])
    let result = try ReadingTests.ask("who", [document], model, Self.options(calls: 0))
    #expect(result.answers.isEmpty && result.isImpossible && result.noAnswerProbability == 1)
    #expect(result.windowCount == 0 && result.stop == .cancelled && result.emptyInput == nil)
    var late = AnswerOptions()
    late.call.deadline = 1
    #expect(failure { _ = try ReadingTests.ask("who", [document], model, late) }?.status == .deadlineExceeded)
    late.allowsPartial = true
    let none = try ReadingTests.ask("who", [document], model, late)
    #expect(none.answers.isEmpty && none.stop == .deadline && none.windowCount == 0)
  }

  /// What a round replaces does not count any longer: reading in rounds takes little more memory than reading at once.
  @Test func roundsHoldTheirLogitsOnce() throws {
    let document = ReadingTests.document(400, [3: "who left right"])
    func leastBytes(_ allowsPartial: Bool) throws -> Int {
      var options = Self.options(calls: .max)
      options.allowsPartial = allowsPartial
      var (tooFew, enough) = (0, 1 << 24)
      while enough - tooFew > 1 << 12 {
        options.call.maxBytes = (tooFew + enough) / 2
        if let error = failure({
          _ = try ReadingTests.ask("who", [document], ReadingTests.marking(), options)
        }) {
          #expect(error.status == .tooLarge)
          tooFew = options.call.maxBytes
        } else {
          enough = options.call.maxBytes
        }
      }
      return enough
    }
    let (atOnce, inRounds) = (try leastBytes(false), try leastBytes(true))
    #expect(inRounds < atOnce * 3 / 2, "\(inRounds) \(atOnce)")
  }

  /// What is finished stays, what is begun is partial, and the rest is not read.
  @Test func itemsOfABatchAreStoppedEachByItself() throws {
    let model = ReadingTests.marking()
    let short = "who left right"
    let long = ReadingTests.document(30, [5: "who left right"])
    try withBytes(of: ["who", short, long]) { texts throws(BertQAError) in
      let items = [1, 2, 1, 2].map { QuestionItem(question: texts[0], document: .text(texts[$0])) }
      let results = try QuestionAnswerer(ReadingTests.tokenizer, model).answer(
        items, Self.options(calls: 1))
      #expect(results.map(\.stop) == [.all, .cancelled, .all, .cancelled])
      #expect(results.map(\.windowCount) == [1, 8, 1, 8])
      #expect(results.allSatisfy { $0.answers.first?.score == 10 })
    }
    var late = AnswerOptions()
    late.call.deadline = 1
    late.allowsPartial = true
    try withBytes(of: ["who", short]) { texts throws(BertQAError) in
      let items = (0..<5000).map { _ in QuestionItem(question: texts[0], document: .text(texts[1])) }
      let results = try QuestionAnswerer(ReadingTests.tokenizer, model).answer(items, late)
      #expect(results.count == 5000 && results.allSatisfy { $0.stop == .deadline && $0.answers.isEmpty })
    }
  }
}
