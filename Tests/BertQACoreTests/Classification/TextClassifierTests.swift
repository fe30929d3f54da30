import Foundation
import Testing

@testable import BertQACore

@Suite struct TextClassifierTests {
  static let names = [
    "tiny-bert-classifier", "tiny-bert-regression", "tiny-distilbert-classifier", "tiny-camembert-classifier",
    "tiny-electra-classifier", "tiny-albert-classifier", "tiny-mpnet-classifier", "tiny-deberta-classifier",
    "tiny-deberta-v1-classifier", "tiny-mobilebert-classifier",
    "tiny-modernbert-classifier", "tiny-gte-classifier", "tiny-longformer-classifier",
  ]

  /// Logits in the model's order.
  private func logits(_ result: Classification) -> [Float] {
    result.scores.sorted { $0.id < $1.id }.map(\.logit)
  }

  private func classify(
    _ context: Context, _ texts: [(String, String?)], _ options: ClassifyOptions = ClassifyOptions()
  ) throws -> [Classification] {
    try withPairs(texts) { try context.classify($0, options: options) }
  }

  @Test(arguments: names, Context.instructionSets)
  func logitsAreThoseOfTransformers(name: String, isa: InstructionSet) throws {
    let expected = try TinyTexts(name)
    let context = try Context(tiny: name, threads: 2, isa: isa)
    let texts = expected.texts.map { ($0[0] ?? "", $0[1]) }
    let results = try classify(context, texts)
    #expect(distance(results.map(logits), expected.outputs) < 1e-4)
    #expect(results.allSatisfy { $0.windowCount == 1 && !$0.notEnoughText && $0.contributions.isEmpty })
    // Alone, each has the same bits as in company.
    for (text, result) in pairs(texts, results) {
      #expect(try classify(context, [text]).map(logits) == [logits(result)])
    }
    #expect(try classify(context, texts.reversed()).map(logits) == results.reversed().map(logits))
  }

  @Test func labelsAndProbabilities() throws {
    let context = try Context(tiny: "tiny-bert-classifier")
    #expect(context.info.task == .classify && context.info.labels == ["calm", "glad", "sad"])
    #expect(context.info.embeddingLength == 0)
    let result = try context.classify("the quick brown fox")
    #expect(Set(result.scores.map(\.label)) == ["calm", "glad", "sad"])
    #expect(result.scores.map(\.id).map { context.info.labels[$0] } == result.scores.map(\.label))
    #expect(abs(result.scores.map(\.probability).reduce(0, +) - 1) < 1e-6)
    #expect(zip(result.scores, result.scores.dropFirst()).allSatisfy { $0.probability >= $1.probability })
    let ratio = result.scores[0].probability / result.scores[1].probability
    #expect(abs(log(ratio) - (result.scores[0].logit - result.scores[1].logit)) < 1e-5)
    #expect(result.problemType == .singleLabel && result.label == result.scores[0].label)
  }

  @Test func improbableLabelsAreNone() throws {
    let context = try Context(tiny: "tiny-bert-classifier")
    let best = try context.classify("the quick brown fox").scores
    var options = ClassifyOptions()
    options.minProbability = best[0].probability.nextUp
    let result = try context.classify("the quick brown fox", options: options)
    #expect(result.isNone && result.label == nil && result.scores == best)
    options.minProbability = best[0].probability
    #expect(try context.classify("the quick brown fox", options: options).label == best[0].label)
    // A number has no probability.
    let regression = try Context(tiny: "tiny-bert-regression")
    let error = failure { _ = try regression.classify("the quick brown fox", options: options) }
    #expect(error?.status == .invalidArgument && error?.argument == "min_probability")
    #expect(try regression.classify("the quick brown fox").label != nil)
  }

  @Test(arguments: names, Context.instructionSets)
  func otherPrecisionsComeClose(name: String, isa: InstructionSet) throws {
    let texts = try TinyTexts(name).texts.map { ($0[0] ?? "", $0[1]) }
    let exact = try classify(Context(tiny: name), texts).map(logits)
    for precision in [Precision.bf16, .int8] {
      guard precision != .bf16 || Kernels(isa: isa.rawValue)?.table.linear_bf16 != nil else { continue }
      let rough = try classify(Context(tiny: name, isa: isa, precision: precision), texts).map(logits)
      #expect(rough != exact)
      // Logits of these models have a standard deviation of 1 to 1.5. The furthest is ModernBERT's in int8: 0.39.
      #expect(distance(rough, exact) < 0.5)
    }
  }

  @Test func severalLabelsAndNumbers() throws {
    let many = try Context(tiny: "tiny-distilbert-classifier").classify("the quick brown fox")
    #expect(many.problemType == .multiLabel && many.scores.count == 4)
    for score in many.scores {
      #expect(abs(log(score.probability / (1 - score.probability)) - score.logit) < 1e-4)
    }
    #expect(zip(many.scores, many.scores.dropFirst()).allSatisfy { $0.logit >= $1.logit })
    let number = try Context(tiny: "tiny-bert-regression").classify("the quick brown fox")
    #expect(number.problemType == .regression && number.scores.map(\.label) == ["LABEL_0"])
    #expect(number.scores[0].probability.isNaN && number.scores[0].logit.isFinite)
  }

  @Test(arguments: [ClassifyOptions.WindowPooling.mean, .max])
  func longTextsAreReadInWindows(pooling: ClassifyOptions.WindowPooling) throws {
    let context = try Context(tiny: "tiny-bert-classifier", threads: 2)
    let words = ["the", "quick", "dog", "river", "king", "paris", "film", "war", "school"]
    let text = (0..<400).map { words[$0 * $0 % 9] }
    var options = ClassifyOptions()
    options.maxSequenceLength = 32
    options.documentStride = 7
    options.windowPooling = pooling
    let result = try classify(context, [(text.joined(separator: " "), nil)], options)[0]
    // One token a word: 30 a window, 23 further each time.
    let starts = Array(stride(from: 0, to: 400 - 7, by: 23))
    #expect(result.windowCount == starts.count)
    let parts = starts.map { (text[$0..<min($0 + 30, 400)].joined(separator: " "), String?.none) }
    let windows = try classify(context, parts).map(logits)
    for label in 0..<3 {
      let column = windows.map { Double($0[label]) }
      let pooled = pooling == .max ? column.max() ?? 0 : column.reduce(0, +) / Double(column.count)
      #expect(logits(result)[label] == Float(pooled))
    }
    // In company, and with slices that end within the text.
    let company = try classify(context, [parts[0], (text.joined(separator: " "), nil), parts[1]], options)
    #expect(company.map(\.windowCount) == [1, starts.count, 1])
    #expect(logits(company[1]) == logits(result))
    guard case .classification(let classifier) = context.engine else {
      throw BertQAError(.internal, "no classifier")
    }
    for (tokens, windows) in [(1, 4096), (100, 4096), (65_536, 1), (65_536, 5)] {
      var reader = classifier.reader
      reader.reader.sliceTokens = tokens
      reader.reader.sliceWindows = windows
      let small = TextClassifier(
        reader: reader, labels: classifier.labels, problemType: classifier.problemType)
      let again = try withPairs([parts[0], (text.joined(separator: " "), nil), parts[1]]) { texts in
        try all(options) { options throws(BertQAError) in try small.classifyEach(texts, options) }
      }
      #expect(again.map(logits) == company.map(logits) && again.map(\.windowCount) == [1, starts.count, 1])
    }
  }

  @Test func longPairs() throws {
    let context = try Context(tiny: "tiny-bert-classifier")
    func words(_ word: String, _ count: Int) -> String {
      (0..<count).map { "\(word)\($0 % 2 == 0 ? "" : "s")" }.joined(separator: " ")
    }
    var options = ClassifyOptions()
    options.maxSequenceLength = 32
    options.documentStride = 4
    let result = try classify(context, [("who is king", words("war", 60))], options)[0]
    #expect(result.windowCount > 1)
    let swapped = try classify(context, [(words("war", 60), "who is king")], options)[0]
    #expect(swapped.windowCount == result.windowCount && logits(swapped) != logits(result))
    let both = try classify(context, [(words("war", 60), words("king", 200))], options)[0]
    #expect(both.windowCount > result.windowCount)
    // If both texts are long, each has half of the window's 29 tokens.
    options.documentStride = 14
    let error = failure { _ = try classify(context, [(words("war", 60), words("king", 200))], options) }
    #expect(error?.argument == "doc_stride" && error?.message.contains("leave 14 tokens of") == true)
    options.documentStride = 13
    #expect(try classify(context, [(words("war", 60), words("king", 200))], options)[0].windowCount > 100)
  }

  @Test func badOptionsAndWrongModels() throws {
    let context = try Context(tiny: "tiny-bert-classifier")
    func refusal(_ context: Context, _ change: (inout ClassifyOptions) -> Void = { _ in }) -> BertQAError? {
      var options = ClassifyOptions()
      change(&options)
      return failure { _ = try context.classify("a", options: options) }
    }
    #expect(refusal(context) == nil)
    #expect(refusal(context) { $0.maxSequenceLength = 7 }?.status == .invalidArgument)
    #expect(refusal(context) { $0.maxSequenceLength = -1 }?.status == .invalidArgument)
    #expect(refusal(context) { $0.documentStride = -1 }?.status == .invalidArgument)
    #expect(refusal(context) { $0.maxSequenceLength = 100_000 } == nil)
    #expect(refusal(context) { $0.documentStride = 100_000 }?.argument == "doc_stride")
    let positions = context.info.maxPositions
    #expect(refusal(context) { $0.documentStride = positions - 2 }?.argument == "doc_stride")
    #expect(refusal(context) { $0.documentStride = positions - 3 } == nil)
    #expect(refusal(context) { $0.call.cancellation = Cancellation { true } }?.status == .cancelled)
    for name in ["tiny-bert", "tiny-bert-embedder"] {
      let error = try #require(refusal(try Context(tiny: name)))
      #expect(error.status == .wrongModel && error.message.contains("ForSequenceClassification"))
    }
    #expect(failure { _ = try context.answer(question: "a", document: "b") }?.status == .wrongModel)
    #expect(failure { _ = try context.embed("a") }?.status == .wrongModel)
    #expect(failure { _ = try context.logits(ids: [2, 3], windowLengths: [2]) }?.status == .wrongModel)
    #expect(try context.tokenize("the fox").ids.count == 2)
    #expect(try classify(context, []).isEmpty)
  }

  @Test func aBatchNamesTheText() throws {
    let context = try Context(tiny: "tiny-bert-classifier")
    let tooLong = TextPair(
      text: UnsafeBufferPointer(start: UnsafePointer(bitPattern: 64), count: Int(Int32.max) + 1))
    let error = withPairs([("a", nil)]) { texts in
      failure { _ = try context.classify(texts + [tooLong]) }
    }
    #expect(error?.status == .tooLarge && error?.item == 1)
    #expect(error?.message.hasPrefix("texts[1]: text has") == true)
  }
}
