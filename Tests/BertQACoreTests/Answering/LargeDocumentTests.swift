import Testing

@testable import BertQACore

/// 2 MB through the whole engine: windows in many slices, one answer in the middle, checkpoints.
@Test func aLargeDocumentIsAnsweredInSlices() throws {
  let tokenizer = FakeTokenizer(["who", "needle", "é-lorem-ipsum-dolor"])
  let filler = Array(String(repeating: "é-lorem-ipsum-dolor ", count: 50_000).utf8)
  let document = filler + Array("needle. ".utf8) + filler
  let model = FakeModel.marking(start: tokenizer.id("needle"), end: tokenizer.id("needle"))
  let options = AnswerOptions.with {
    $0.topK = 2
    $0.documentStride = 128
  }
  let result = try QuestionAnswerer(tokenizer, model).ask("who", document, options)
  #expect(result.answers[0].bytes == TextRange(start: filler.count, end: filler.count + 6))
  #expect(result.answers[0].codePoints.start == 50_000 * 20)
  #expect(result.answers[0].score == 10)
  #expect(result.answers[1].score == -10)
  #expect(result.windowCount == 397)
  let calls = model.windowsPerCall.withLock { $0 }
  #expect(calls.count > 1 && calls.allSatisfy { $0 <= 65_536 / 384 + 1 })
}
