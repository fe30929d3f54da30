import Glibc
import Testing

@testable import BertQACore

@Suite struct WordCountTests {
  private func classify(_ text: String, _ context: Context, contributions: Int = 0) throws -> Classification {
    var options = ClassifyOptions()
    options.contributions = contributions
    return try context.classify(text, options: options)
  }

  @Test(arguments: [false, true], [1, 2])
  func probabilitiesSumToOneAndOrderIsStable(tfIDF: Bool, ngram: Int) throws {
    let directory = try TemporaryDirectory()
    let corpus = TrainingCorpus(count: 200, labelCount: 4)
    var options = TrainOptions.quick
    options.usesTFIDF = tfIDF
    options.maxNGram = ngram
    let context = try corpus.context(directory, options)
    #expect(context.info.labels == (0..<4).map { "label \($0)" })
    var right = 0
    for (text, label) in zip(corpus.texts, corpus.labels) {
      let result = try classify(text, context)
      guard !result.notEnoughText else {
        #expect(result.scores.isEmpty && result.distinctWords < 3)
        continue
      }
      #expect(result.scores.count == 4)
      #expect(abs(result.scores.reduce(0) { $0 + $1.probability } - 1) < 1e-6)
      #expect(Set(result.scores.map(\.id)) == Set(0..<4))
      for (a, b) in zip(result.scores, result.scores.dropFirst()) {
        #expect(a.logit > b.logit || a.logit == b.logit && a.id < b.id)
      }
      right += result.label == label ? 1 : 0
    }
    #expect(right > 150)
  }

  @Test func equalScoresKeepTheModelsOrder() throws {
    // Words that the model does not know leave the bias alone; equal labels come in order.
    let trainer = try ClassifierTrainer(options: .quick)
    for label in ["b", "a", "c"] { try trainer.add("one two three \(label)", label: label) }
    let (model, _) = try trainer.trained()
    let counts = try WordCounts(featureCount: model.featureCount)
    let result = try Classification(
      logits: model.logits(of: counts, scale: 1), labels: model.labels, problemType: .singleLabel)
    #expect(result.scores.map(\.label) == ["a", "b", "c"])
  }

  @Test func tooFewDistinctWordsAreAnOutcome() throws {
    let directory = try TemporaryDirectory()
    let context = try TrainingCorpus(count: 60, labelCount: 2).context(directory)
    for (text, distinct) in [
      ("", 0), ("a an to", 0), ("unknown", 1), ("wörd1 wörd1 wörd2 WÖRD2", 2), ("\u{0}\u{1}", 0),
      (String(repeating: "x", count: 300) + " abc def", 2),
    ] {
      let result = try classify(text, context)
      #expect(result.notEnoughText && result.scores.isEmpty && result.label == nil)
      #expect(result.distinctWords == distinct, "\(text)")
    }
    // Words outside the vocabulary are words of the text all the same.
    let unknown = try classify("entirely unknown words", context)
    #expect(!unknown.notEnoughText && unknown.distinctWords == 3 && unknown.scores.count == 2)
  }

  @Test func improbableLabelsAreNone() throws {
    let directory = try TemporaryDirectory()
    let context = try TrainingCorpus(count: 60, labelCount: 2).context(directory)
    let best = try classify("wörd1 wörd2 wörd3", context).scores
    var options = ClassifyOptions()
    for (least, isNone) in [
      (0, false), (best[0].probability, false), (best[0].probability.nextUp, true), (1, true),
    ] {
      options.minProbability = least
      let result = try context.classify("wörd1 wörd2 wörd3", options: options)
      #expect(result.isNone == isNone && result.label == (isNone ? nil : best[0].label))
      #expect(result.scores == best)
      let short = try context.classify("", options: options)
      #expect(!short.isNone && short.notEnoughText && short.label == nil)
    }
    for wrong: Float in [-0.1, 1.1, .nan, .infinity] {
      options.minProbability = wrong
      let error = failure { _ = try context.classify("one two three", options: options) }
      #expect(error?.status == .invalidArgument && error?.argument == "min_probability")
    }
  }

  @Test(arguments: [false, true])
  func contributionsPointToTheirWordsAndSumToTheLogit(tfIDF: Bool) throws {
    let directory = try TemporaryDirectory()
    var options = TrainOptions.quick
    options.usesTFIDF = tfIDF
    options.maxNGram = 2
    let corpus = TrainingCorpus(count: 200, labelCount: 3)
    let context = try corpus.context(directory, options)
    let text = "\u{1F600} " + corpus.texts[0] + "é\u{301} WÖRD1 wörd2"
    let result = try classify(text, context, contributions: .max >> 33)
    let utf8 = Array(text.utf8)
    var last = Float.infinity
    for word in result.contributions {
      let bytes = utf8[word.bytes.start..<word.bytes.end]
      let scalars = Array(text.unicodeScalars)[word.codePoints.start..<word.codePoints.end]
      let utf16 = Array(text.utf16)[word.utf16.start..<word.utf16.end]
      let found = String(decoding: bytes, as: UTF8.self)
      #expect(found.hasPrefix("w") || found.hasPrefix("W") || found.hasPrefix("é"))
      #expect(Array(found.unicodeScalars) == Array(scalars))
      #expect(found == String(decoding: utf16, as: UTF16.self))
      #expect(abs(word.weight) <= last)
      last = abs(word.weight)
    }
    // All occurrences and the bias make up the logit over the mean of the labels.
    guard case .wordCounts(let classifier) = context.engine else { return #expect(Bool(false)) }
    let best = result.scores[0]
    let bias = classifier.model.bias
    let mean = result.scores.reduce(0) { $0 + $1.logit } / 3 - bias.reduce(0, +) / 3
    let sum = result.contributions.reduce(0) { $0 + $1.weight }
    #expect(abs(sum - (best.logit - bias[best.id] - mean)) < 1e-3)

    let few = try classify(text, context, contributions: 2)
    #expect(few.contributions == Array(result.contributions.prefix(2)))
  }

  @Test func batchesGiveTheSameAsSingleTexts() throws {
    let directory = try TemporaryDirectory()
    let corpus = TrainingCorpus(count: 400, labelCount: 3)
    _ = try corpus.context(directory)
    let texts = (0..<2000).map { corpus.texts[$0 % 400] + corpus.texts[($0 * 7) % 400] }
    var expected: [[LabelScore]] = []
    for threads in [1, 2, 5] {
      var options = ContextOptions()
      options.threads = threads
      let context = try Context(modelDirectory: directory.file("model"), options: options)
      if expected.isEmpty { expected = try texts.map { try context.classify($0).scores } }
      let joined = Array(texts.joined().utf8)
      let results = try joined.withUnsafeBufferPointer { bytes in
        var start = 0
        return try context.classify(
          texts.map { text in
            defer { start += text.utf8.count }
            return TextPair(text: UnsafeBufferPointer(rebasing: bytes[start..<start + text.utf8.count]))
          })
      }
      #expect(results.map(\.scores) == expected)
    }
  }

  @Test func refusesWhatItCannotDo() throws {
    let directory = try TemporaryDirectory()
    let context = try TrainingCorpus(count: 60, labelCount: 2).context(directory)
    let empty = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    #expect(
      throws: BertQAError(
        .invalidArgument, argument: "second", "is set, but a word-count model reads only single texts"
      ).of(item: 1, in: "texts")
    ) {
      try context.classify([TextPair(text: empty), TextPair(text: empty, second: empty)])
    }
    var options = ClassifyOptions()
    options.contributions = -1
    #expect(throws: BertQAError.self) { try context.classify("a", options: options) }
    options.contributions = 0
    options.call.cancellation = Cancellation { true }
    #expect {
      try context.classify("a text", options: options)
    } throws: {
      ($0 as? BertQAError)?.status == .cancelled
    }
    #expect {
      try context.answer(question: "a", document: "b")
    } throws: {
      ($0 as? BertQAError)?.status == .wrongModel
    }
    #expect(throws: BertQAError.self) { try context.tokenize("a") }
    #expect(try context.classify([TextPair]()).isEmpty)
  }

  @Test func showsItsVocabulary() throws {
    let directory = try TemporaryDirectory()
    var options = TrainOptions.quick
    options.maxNGram = 2
    let context = try TrainingCorpus(count: 30, labelCount: 2).context(directory, options)
    let lines = try directory.text("model/vocab.txt").split(separator: "\n").map(String.init)
    #expect(context.info.vocabularySize == lines.count)
    #expect(lines == lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    for (id, line) in lines.enumerated() {
      let piece = context.vocabularyPiece(id: Int32(id))
      #expect(piece.map { String(decoding: $0, as: UTF8.self) } == line)
      #expect(Array(line.utf8).withUnsafeBufferPointer { context.vocabularyID(of: $0) } == Int32(id))
    }
    #expect(context.vocabularyPiece(id: Int32(lines.count)) == nil && context.vocabularyPiece(id: -1) == nil)
    #expect(Array("none".utf8).withUnsafeBufferPointer { context.vocabularyID(of: $0) } == nil)
    #expect(context.vocabularyID(of: UnsafeBufferPointer(start: nil, count: 0)) == nil)
  }
}
