import Foundation
import Testing

@testable import BertQACore

@Suite struct LabelerTests {
  private func labeler(
    _ examples: [(String, String)], scale: Float = 20, _ name: String = "tiny-bert-embedder"
  ) throws -> Labeler {
    var options = LabelerOptions()
    options.scale = scale
    // The context goes before the labeler is used.
    let context = try Context(tiny: name)
    return try withPairs(examples.map { ($0.0, nil) }) { texts in
      try Labeler(
        context, examples: zip(texts, examples).map { LabelExample(text: $0.text, label: $1.1) },
        options: options)
    }
  }

  @Test func aLabelIsTheMeanOfItsExamples() throws {
    let examples = [
      ("the dog", "animal"), ("the king of france", "person"), ("a quick brown fox", "animal"),
    ]
    let labeler = try labeler(examples)
    #expect(labeler.labels == ["animal", "person"])
    let context = try Context(tiny: "tiny-bert-embedder")
    func unit(_ vector: [Float]) -> [Float] {
      let length = vector.map { $0 * $0 }.reduce(0, +).squareRoot()
      return vector.map { $0 / length }
    }
    let vectors = try examples.map { unit(try context.embed($0.0)) }
    let prototypes = [unit(zip(vectors[0], vectors[2]).map { ($0 + $1) / 2 }), vectors[1]]
    let text = unit(try context.embed("people of the river"))
    let result = try labeler.classify("people of the river")
    #expect(result.problemType == .singleLabel && result.windowCount == 1)
    for score in result.scores {
      let cosine = zip(prototypes[score.id], text).map { $0 * $1 }.reduce(0, +)
      #expect(abs(score.logit - 20 * cosine) < 1e-4)
      #expect(score.label == labeler.labels[score.id])
    }
    #expect(abs(result.scores.map(\.probability).reduce(0, +) - 1) < 1e-6)
    #expect(result.scores[0].probability >= result.scores[1].probability)
  }

  @Test func examplesAreTheirLabelsAndScaleSharpens() throws {
    let examples = [("the dog", "a"), ("north west", "b"), ("the film was made", "c")]
    for (text, label) in examples {
      let soft = try labeler(examples, scale: 1).classify(text)
      let sharp = try labeler(examples, scale: 100).classify(text)
      #expect(soft.label == label && sharp.label == label)
      #expect(sharp.scores[0].probability > soft.scores[0].probability)
      #expect(abs(sharp.scores[0].logit - 100) < 1e-3)
    }
  }

  /// What a call prepares and what its reader holds count together, also if the caller brings no account.
  @Test func aCallHasOneLimitOfMemory() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    let texts = (0..<1000).map { ("a river \($0)", String?.none) }
    let examples = texts.map { LabelExample(text: UnsafeBufferPointer(start: nil, count: 0), label: $0.0) }
    let labeler = try labeler([("the dog", "a"), ("north west", "b")])
    func status(_ index: Int, _ call: CallOptions) -> Status? {
      var options = LabelerOptions()
      options.embed.call = call
      return withPairs(texts) { texts in
        failure {
          switch index {
          case 0: _ = try context.embedTokens(texts, options: options.embed)
          case 1: _ = try labeler.classify(texts, call: call)
          default: _ = try Labeler(context, examples: examples, options: options)
          }
        }?.status
      }
    }
    var outcomes: Set<[Status?]> = []
    for maxBytes in stride(from: 100_000, to: 700_000, by: 80_000) {
      let pairs = (0..<3).map { index in
        var call = CallOptions()
        call.maxBytes = maxBytes
        let own = status(index, call)
        call.ledger = MemoryLedger(limit: maxBytes)
        return (own, status(index, call))
      }
      #expect(pairs.map(\.0) == pairs.map(\.1), "\(maxBytes) bytes")
      outcomes.insert(pairs.map(\.1))
    }
    #expect(outcomes.count > 2)
  }

  @Test func manyTextsHaveTheSameBits() throws {
    let labeler = try labeler([("the dog", "a"), ("north west", "b")])
    let texts = (0..<300).map { ("a river \($0)", String?.none) }
    let batch = try withPairs(texts) { try labeler.classify($0) }
    for index in [0, 150, 299] {
      let alone = try withPairs([texts[index]]) { try labeler.classify($0) }
      #expect(alone[0].scores == batch[index].scores)
    }
    #expect(try labeler.classify([]).isEmpty)
  }

  @Test func badExamplesAndOptions() throws {
    func refusal(
      _ examples: [(String, String)], scale: Float = 20, _ name: String = "tiny-bert-embedder"
    ) -> Status? {
      failure { _ = try labeler(examples, scale: scale, name) }?.status
    }
    #expect(refusal([("", "x")]) == nil)
    #expect(refusal([]) == .invalidArgument)
    for label in ["", " \t", "\u{A0}", "x\0"] { #expect(refusal([("a", label)]) == .invalidArgument) }
    for scale in [0, -1, .nan, .infinity] as [Float] {
      #expect(refusal([("a", "x")], scale: scale) == .invalidArgument)
    }
    #expect(refusal([("a", "x")], "tiny-bert") == .wrongModel)
    #expect(refusal([("a", "x")], "tiny-bert-classifier") == .wrongModel)
  }
}
