import Glibc
import Testing

@testable import BertQACore

@Suite struct GenerationTests {
  /// Models/shakespeare-lstm's card has these, from PyTorch.
  static let continuations = [
    "O Romeo": ", Romeo , brave Mercutio's dead , That gallant spirit hath aspir'd the clouds , "
      + "And turn'd that black death , going in the bottom of my course Direct my suit .",
    "But soft": ", what news ?",
    "Good night": ", good night .",
  ]

  @Test(arguments: instructionSets)
  func greedyContinuationsAreThoseOfPyTorch(isa: Int32) throws {
    let context = try TinySequence.shakespeare(isa: isa)
    for (prompt, continuation) in Self.continuations {
      let generation = try context.generate(prompt: prompt)
      #expect(generation.text == continuation)
      #expect(generation.text == generation.words.map(\.text).joined(separator: " "))
      #expect(generation.stop == .end && generation.unknownCount == 0)
      #expect(generation.words.allSatisfy { $0.id > 1 && $0.probability > 0 && $0.probability <= 1 })
    }
  }

  @Test func generationIsRepeatedPrediction() throws {
    let context = try TinySequence.shakespeare()
    let generation = try context.generate(prompt: "Thou art")
    var state = try context.predict(word: "Thou").state
    var (prediction, next) = try context.predict(word: "art", state: state)
    for word in generation.words {
      #expect(word.id == prediction.words[0].id && word.logProbability == prediction.words[0].logProbability)
      state = next
      (prediction, next) = try context.predict(word: word.text, state: state)
    }
    #expect(prediction.words[0].text == "</s>" && generation.stop == .end)
    #expect(generation.state.values == next.values)
  }

  @Test func aGenerationGoesOnFromItsState() throws {
    let context = try TinySequence.shakespeare()
    let whole = try context.generate(prompt: "O Romeo")
    var options = GenerateOptions()
    options.maxWords = 7
    var part = try context.generate(prompt: "O Romeo", options: options)
    var words = part.words.map(\.id)
    while part.stop == .limit {
      #expect(part.words.count == 7)
      part = try context.generate(prompt: "", state: part.state, options: options)
      words += part.words.map(\.id)
    }
    #expect(part.stop == .end && words == whole.words.map(\.id))
    #expect(part.state.values == whole.state.values)
  }

  @Test func theCallbackSeesEachWordAndMayStop() throws {
    let context = try TinySequence.shakespeare()
    let whole = try context.generate(prompt: "O Romeo")
    for limit in [1, 5, whole.words.count, 1000] {
      var seen: [String] = []
      var options = GenerateOptions()
      options.onWord = { word in
        seen.append(word.text)
        return seen.count < limit
      }
      let generation = try context.generate(prompt: "O Romeo", options: options)
      #expect(seen == generation.words.map(\.text))
      #expect(seen == whole.words.prefix(limit).map(\.text))
      #expect(generation.stop == (limit <= whole.words.count ? .callback : .end))
    }
  }

  @Test func seedsDecide() throws {
    let context = try TinySequence.shakespeare()
    func text(_ change: (inout GenerateOptions) -> Void) throws -> String {
      var options = GenerateOptions()
      options.temperature = 1
      change(&options)
      return try context.generate(prompt: "O", options: options).text
    }
    let texts = try (0..<20).map { seed in try text { $0.seed = UInt64(seed) } }
    #expect(try (0..<20).map { seed in try text { $0.seed = UInt64(seed) } } == texts)
    #expect(Set(texts).count > 10)
    // Narrowed to one word, every draw is the greedy one.
    let greedy = try context.generate(prompt: "O").text
    #expect(try text { $0.topK = 1 } == greedy)
    #expect(try text { $0.topP = 1e-6 } == greedy)
    #expect(try text { $0.temperature = 1e-30 } == greedy)
    #expect(try text { ($0.topK, $0.topP) = (.max, 1) } != "")
  }

  /// Draws of one word against its probabilities, by the chi-squared statistic.
  @Test(arguments: [(1, 0, 1), (0.7, 0, 1), (1.5, 6, 1), (1, 0, 0.8), (2, 12, 0.6)] as [(Float, Int, Float)])
  func drawsFollowTheDistribution(temperature: Float, topK: Int, topP: Float) throws {
    let context = try TinySequence.context("tiny-lstm")
    let logits = try context.stepWithLogits([4], [nil]).logits[0]
    // The distribution, plainly: temperature, the k best, the nucleus of these.
    let order = logits.indices.dropFirst().sorted { logits[$0] > logits[$1] }
    var weights = order.map { id in
      (id: id, weight: exp(Double(logits[id] - logits[order[0]]) / Double(temperature)))
    }
    if topK > 0 { weights = Array(weights.prefix(topK)) }
    let total = weights.reduce(0) { $0 + $1.weight }
    var sum = 0.0
    let count = weights.firstIndex {
      sum += $0.weight
      return sum >= Double(topP) * total
    }
    if topP < 1 { weights = Array(weights.prefix((count ?? weights.count) + 1)) }
    let kept = weights.reduce(0) { $0 + $1.weight }

    let draws = 4000
    var counts: [Int: Int] = [:]
    var options = GenerateOptions()
    (options.temperature, options.topK, options.topP, options.maxWords) = (temperature, topK, topP, 1)
    let word = context.word(4)
    for seed in 0..<draws {
      options.seed = UInt64(seed)
      let generation = try context.generate(prompt: word, options: options)
      counts[Int(generation.words.first?.id ?? 1), default: 0] += 1
    }
    #expect(Set(counts.keys).isSubset(of: Set(weights.map(\.id))))
    #expect(counts[0] == nil, "the unknown token was generated")
    let statistic = weights.reduce(0) { sum, word in
      let expected = Double(draws) * word.weight / kept
      return sum + pow(Double(counts[word.id] ?? 0) - expected, 2) / expected
    }
    // Mean n - 1 and variance 2 (n - 1): five standard deviations above.
    let freedom = Double(max(1, weights.count - 1))
    #expect(statistic < freedom + 5 * (2 * freedom).squareRoot())
  }

  @Test func badOptionsAndPromptsThrow() throws {
    let context = try TinySequence.shakespeare()
    let changes: [(inout GenerateOptions) -> Void] = [
      { $0.maxWords = 0 }, { $0.maxWords = 1_000_001 }, { $0.temperature = -1 },
      { $0.temperature = .nan }, { $0.temperature = .infinity }, { $0.topK = -1 }, { $0.topP = 0 },
      { $0.topP = 1.5 }, { $0.topP = .nan },
    ]
    for change in changes {
      var options = GenerateOptions()
      change(&options)
      #expect(status { _ = try context.generate(prompt: "O", options: options) } == .invalidArgument)
    }
    for prompt in ["", " \n", "\u{0}", "’’"] {
      #expect(status { _ = try context.generate(prompt: prompt) } == .invalidArgument)
    }
    let generation = try context.generate(prompt: "O zyzzyva frobnicate Romeo")
    #expect(generation.unknownCount == 2)
  }

  @Test func charactersAreJoinedWithoutSpaces() throws {
    let context = try TinySequence.context("tiny-lstm-characters")
    var options = GenerateOptions()
    (options.temperature, options.seed, options.maxWords) = (2, 4, 50)
    let generation = try context.generate(prompt: "abc", options: options)
    #expect(generation.words.count > 3)
    #expect(generation.text == generation.words.map(\.text).joined())
    // Read again, the text leads to the same state: every character became what it was.
    let state = try #require(try context.state(after: [9, 10, 11].map(Int32.init)))
    #expect(["a", "b", "c"] == [9, 10, 11].map { context.word($0) })
    let again = try context.state(after: [9, 10, 11] + generation.words.map(\.id))
    #expect(again?.values == generation.state.values && state.values != generation.state.values)
  }

  @Test func numbersOfSplitMix64AreThePublishedOnes() {
    var random = SplitMix64(seed: 1_234_567)
    let expected: [UInt64] = [
      6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
    ]
    #expect((0..<5).map { _ in random.next() } == expected)
  }
}
