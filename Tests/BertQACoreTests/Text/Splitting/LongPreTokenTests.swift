import Testing

@testable import BertQACore

/// Steps ask whether to continue within a pre-token, however long it is.
@Suite struct LongPreTokenTests {
  private static func preTokens(_ text: String) throws -> PreTokens {
    var preTokens = PreTokens()
    try Array(text.utf8).withElements { text throws(BertQAError) in
      try preTokens.text.load(text, 0..<text.count, nil)
    }
    try preTokens.reset()
    return preTokens
  }

  private static func cancelled() -> CallMonitor {
    var options = CallOptions()
    options.cancellation = Cancellation { true }
    return CallMonitor(options)
  }

  @Test func aPatternCanBeCancelledWithinAMatchAndBetween() throws {
    // Hiragana begin with the same bytes as some white space.
    for text in ["a", "か", "é", "1", "  "] {
      for step: any PreTokenizer in [
        SplitStep(AnyPattern(count: .max), .isolated), SplitStep(AnyPattern(), .isolated),
        SplitStep(SpacePattern(), .removed), SplitStep(ClassPattern(.punctuation), .isolated),
        SplitStep(RunPattern(.letter), .isolated), SplitStep(WordPattern(), .removed, inverted: true),
        SplitStep(TextPattern("??"), .removed), SplitStep(GPT2Pattern(), .isolated),
        SplitStep(O200KPattern(), .isolated),
      ] {
        var preTokens = try Self.preTokens(String(repeating: text, count: 1 << 17))
        var error: BertQAError?
        do { try step.cut(&preTokens, Self.cancelled()) } catch let found { error = found }
        #expect(error?.status == .cancelled, "\(text) \(step)")
      }
    }
  }

  @Test func metaspaceCanBeCancelledWithinAPreToken() throws {
    var preTokens = try Self.preTokens(String(repeating: "a ", count: 1 << 17))
    var error: BertQAError?
    do { try Metaspace("▁", .never, splits: true).cut(&preTokens, Self.cancelled()) } catch let found {
      error = found
    }
    #expect(error?.status == .cancelled)
    // It asks at the first opportunity.
    #expect(preTokens.newText.count < 3 * CallPoll.textInterval)
  }
}
