import Glibc
import Testing

@testable import BertQACore

@Suite struct LikelihoodTests {
  /// The same by one prediction after the other.
  private func reference(
    _ words: [String], _ context: Context, end: Bool
  ) throws -> (count: Int, logLikelihood: Double) {
    var state: SequenceState?
    var probabilities: [Float]?
    var sum = 0.0
    var count = 0
    for word in words + (end ? ["</s>"] : []) {
      if let probabilities {
        sum += log(Double(probabilities[id(of: word, context)]))
        count += 1
      }
      let step = try context.predict(word: word, state: state)
      (probabilities, state) = (step.prediction.probabilities, step.state)
    }
    return (count, sum)
  }

  private func id(of word: String, _ context: Context) -> Int {
    var word = word
    return Int(word.withUTF8 { context.vocabularyID(of: $0) } ?? 0)
  }

  @Test func likelihoodIsTheSumOfPredictions() throws {
    let context = try TinySequence.shakespeare()
    let verse = "O Romeo , Romeo , wherefore art thou Romeo ? Deny thy father and refuse thy name ."
      .split(separator: " ").map(String.init)
    // Across the chunks of the decoder, too.
    let long = (0..<20).flatMap { _ in verse }
    for words in [["O"], ["O", "Romeo"], verse, long, ["O", "zyzzyva", "Romeo"]] {
      for end in [false, true] {
        let expected = try reference(words, context, end: end)
        let score = try context.likelihood(
          of: words.joined(separator: " "), options: SequenceOptions(includesEnd: end))
        #expect(score.wordCount == words.count - 1 + (end ? 1 : 0) && score.wordCount == expected.count)
        #expect(abs(score.logLikelihood - expected.logLikelihood) <= 2e-6 * Double(max(1, score.wordCount)))
        #expect(score.unknownCount == (words.contains("zyzzyva") ? 1 : 0))
        if score.wordCount > 0 {
          #expect(abs(score.perplexity - exp(-score.logLikelihood / Double(score.wordCount))) < 1e-9)
        } else {
          #expect(score.perplexity.isNaN && score.logLikelihood == 0)
        }
      }
    }
  }

  @Test func aTextAfterAStateIsTheRestOfTheWhole() throws {
    let context = try TinySequence.shakespeare(threads: 2)
    let words = Array(repeating: ["Good", "night", ",", "good", "night", "!"], count: 30).flatMap(\.self)
    let whole = try context.likelihood(
      of: words.joined(separator: " "), options: SequenceOptions(includesEnd: true))
    for cut in [1, 2, 63, 64, 65, 66, 128, 179] {
      let before = words[..<cut].joined(separator: " ")
      let first = try context.likelihood(of: before)
      var state: SequenceState?
      for word in words[..<cut] { state = try context.predict(word: word, state: state).state }
      let rest = try context.likelihood(
        of: words[cut...].joined(separator: " "), after: state,
        options: SequenceOptions(includesEnd: true))
      #expect(first.wordCount + rest.wordCount == whole.wordCount)
      #expect(abs(first.logLikelihood + rest.logLikelihood - whole.logLikelihood) < 1e-9)
    }
    let only = try context.likelihood(
      of: "", after: context.predict(word: "O").state, options: SequenceOptions(includesEnd: true))
    #expect(only.wordCount == 1)
    #expect(try context.likelihood(of: "", options: SequenceOptions(includesEnd: true)).wordCount == 0)
  }

  @Test func threadsAndInstructionSetsAgree() throws {
    let text = Array(repeating: "O Romeo , wherefore art thou Romeo ?", count: 30).joined(separator: " ")
    for isa in instructionSets {
      let one = try TinySequence.shakespeare(isa: isa).likelihood(of: text)
      #expect(try TinySequence.shakespeare(isa: isa, threads: 3).likelihood(of: text) == one)
    }
  }

  @Test func rankingPrefersWhatTheModelHasLearnt() throws {
    let context = try TinySequence.shakespeare()
    var texts = ["the computer", "good night .", "Romeo", "", "good night ."]
    let ranking = try rank(&texts, context, prefix: "Good night ,", end: false)
    #expect(ranking.order.prefix(2) == [1, 4] && ranking.order.last == 3)
    for (text, score) in pairs(texts, ranking.scores) {
      var state: SequenceState?
      for word in ["Good", "night", ","] { state = try context.predict(word: word, state: state).state }
      #expect(try context.likelihood(of: text, after: state) == score)
      // The same, from the state of the prefix.
      var one = [text]
      #expect(try rank(&one, context, prefix: "", state: state, end: false).scores == [score])
    }
    let complete = try rank(&texts, context, prefix: "Good night ,", end: true)
    #expect(complete.scores.map(\.wordCount) == [3, 4, 2, 1, 4])
    var none: [String] = []
    #expect(try rank(&none, context, prefix: "O", end: true).order.isEmpty)
    // Without a state the first words are not predicted.
    #expect(try rank(&texts, context, prefix: "", end: false).scores.map(\.wordCount) == [1, 2, 0, 0, 2])
  }

  private func rank(
    _ texts: inout [String], _ context: Context, prefix: String, state: SequenceState? = nil, end: Bool
  ) throws -> (order: [Int], scores: [SequenceScore]) {
    let bytes = texts.map { GuardedBuffer(Array($0.utf8), canary: 0) }
    let prefix = GuardedBuffer(Array(prefix.utf8), canary: 0)
    return try withExtendedLifetime((bytes, prefix)) {
      try context.rank(
        bytes.map { UnsafeBufferPointer(start: $0.base, count: $0.count) },
        after: UnsafeBufferPointer(start: prefix.base, count: prefix.count), state: state,
        options: SequenceOptions(includesEnd: end))
    }
  }

  /// Sentences of the play (public domain): what the model was trained on is likely to it.
  @Test func thePlayIsLikely() throws {
    let context = try TinySequence.shakespeare()
    let sentences = [
      "Two households, both alike in dignity, In fair Verona, where we lay our scene, From ancient grudge "
        + "break to new mutiny, Where civil blood makes civil hands unclean.",
      "Gregory, on my word, we’ll not carry coals.", "No, for then we should be colliers.",
      "I mean, if we be in choler, we’ll draw.", "Good morrow, cousin.", "Is the day so young?",
    ]
    var (sum, count) = (0.0, 0)
    for sentence in sentences {
      let score = try context.likelihood(of: sentence, options: SequenceOptions(includesEnd: true))
      #expect(score.unknownCount == 0)
      sum += score.logLikelihood
      count += score.wordCount
    }
    let perplexity = exp(-sum / Double(count))
    #expect(perplexity < 10)
    let backwards = try context.likelihood(
      of: "dignity in alike both households two", options: SequenceOptions(includesEnd: true))
    #expect(backwards.perplexity > 100)
  }
}
