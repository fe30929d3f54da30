import Testing

@testable import BertQACore

@Suite struct EmptyInputTests {
  static let answerer = QuestionAnswerer(
    FakeTokenizer(["who", "a"]), FakeModel { _, position in position == 0 ? (0, 0) : (1, 1) })

  @Test(arguments: ["", " \n\t ", "\u{FFFD}"])
  func textsWithoutTokensHaveDefinedResults(_ text: String) throws {
    let options = AnswerOptions()
    for (question, document, input) in [
      (text, "a", AnswerResult.EmptyInput.emptyQuestion), ("who", text, .emptyDocument),
      (text, text, .emptyQuestion),
    ] {
      let result = try Self.answerer.ask(question, document, options)
      #expect(
        result == .empty(input, questionWasTruncated: false, noAnswerThreshold: 0))
      #expect(result.isImpossible && result.answers.isEmpty && result.windowCount == 0)
      #expect(result.nullScore == 0 && result.noAnswerProbability == 1)
    }
  }

  @Test func nullPointersAreEmptyTexts() throws {
    let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    let result = try Self.answerer.answer(
      [QuestionItem(question: none, document: .text(none))], AnswerOptions())[0]
    #expect(result.emptyInput == .emptyQuestion)
    #expect(try Self.answerer.prepare(none).byteCount == 0)
  }

  @Test func aTextBeyondTheLimitIsRefusedUnread() {
    // Only the size is looked at: the pointer is never followed.
    let huge = UnsafeBufferPointer<UInt8>(
      start: UnsafePointer(bitPattern: 8), count: Int(Int32.max) + 1)
    #expect(failure { _ = try Self.answerer.prepare(huge) }?.status == .tooLarge)
    let small = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    #expect(
      failure {
        _ = try Self.answerer.answer(
          [QuestionItem(question: huge, document: .text(small))], AnswerOptions())
      }?
      .status == .tooLarge)
  }

  @Test func oneEndlessWordIsAnsweredWhole() throws {
    let word = String(repeating: "z", count: 100_000)
    let result = try Self.answerer.ask("who", " \(word) ", AnswerOptions())
    #expect(result.answers.map(\.bytes) == [TextRange(start: 1, end: 100_001)])
    #expect(result.answers[0].sentence == TextRange(start: 1, end: 100_001))
  }
}
