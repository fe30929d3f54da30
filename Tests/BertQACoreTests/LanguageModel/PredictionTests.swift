import Testing

@testable import BertQACore

@Suite struct PredictionTests {
  @Test(arguments: TinySequence.names + ["shakespeare"])
  func probabilitiesAreASoftmaxInOrder(name: String) throws {
    let context =
      name == "shakespeare" ? try TinySequence.shakespeare() : try TinySequence.context(name)
    let size = context.info.vocabularySize
    var state: SequenceState?
    for id in [3, 5, 2, 9] as [Int32] {
      let logits = try context.stepWithLogits([id], [state]).logits[0]
      let (prediction, next) = try context.predict(
        word: context.word(id), state: state, options: SequenceOptions(topK: size))
      let probabilities = prediction.probabilities
      #expect(probabilities.count == size && !prediction.isUnknown)
      #expect(abs(probabilities.reduce(0) { $0 + Double($1) } - 1) < 1e-6)
      #expect(prediction.words.count == size && Set(prediction.words.map(\.id)).count == size)
      for (better, worse) in zip(prediction.words, prediction.words.dropFirst()) {
        let (first, second) = (logits[Int(better.id)], logits[Int(worse.id)])
        #expect(first > second || first == second && better.id < worse.id)
      }
      for word in prediction.words {
        #expect(word.text == context.word(word.id))
        #expect(abs(word.probability - probabilities[Int(word.id)]) <= 1e-6 * word.probability)
      }
      let (first, second) = (prediction.words[0], prediction.words[1])
      let distance = logits[Int(first.id)] - logits[Int(second.id)]
      #expect(abs(first.logProbability - second.logProbability - distance) < 1e-5)
      for topK in [1, 2, 7, size - 1] {
        let few = try context.predict(
          word: context.word(id), state: state, options: SequenceOptions(topK: topK)
        ).prediction
        #expect(few.words.map(\.id) == prediction.words.prefix(topK).map(\.id))
      }
      let many = try context.predict(
        word: context.word(id), state: state, options: SequenceOptions(topK: .max)
      ).prediction
      #expect(many.words.map(\.id) == prediction.words.map(\.id))
      state = next
    }
  }

  @Test func equalScoresAreOrderedByID() {
    var random = TestRandom(2)
    for count in [1, 2, 3, 10, 300] {
      let scores = (0..<count).map { _ in Float(Int.random(in: 0..<6, using: &random)) }
      let expected = (0..<Int32(count)).sorted { left, right in
        let (first, second) = (scores[Int(left)], scores[Int(right)])
        return first > second || first == second && left < right
      }
      scores.withUnsafeBufferPointer { buffer in
        for top in 0...count + 2 {
          #expect(TopWords.ids(of: buffer, count: top) == Array(expected.prefix(top)))
        }
        #expect(TopWords.best(of: buffer) == expected[0])
      }
    }
  }

  @Test func unknownWordsAreReadAsTheUnknownToken() throws {
    let context = try TinySequence.shakespeare()
    let unknown = try context.predict(word: "zyzzyva")
    #expect(unknown.prediction.isUnknown)
    let expected = try context.stepWithLogits([0], [nil])
    #expect(unknown.state.values == expected.states[0].values)
    #expect(try context.predict(word: "").prediction.isUnknown)
    // The typographic apostrophe is the straight one, as in the training text.
    let straight = try context.predict(word: "star-cross'd")
    let curly = try context.predict(word: "star-cross’d")
    #expect(!curly.prediction.isUnknown && curly.state.values == straight.state.values)
    #expect(
      status { _ = try context.predict(word: "O", options: SequenceOptions(topK: 0)) } == .invalidArgument)
    #expect(
      status { _ = try context.predict(word: "O", options: SequenceOptions(topK: -1)) } == .invalidArgument)
  }

  @Test func readingGivesTheStateOfPredicting() throws {
    let context = try TinySequence.context("tiny-gru")
    let first = try context.predict(word: "O").state
    let word: StaticString = "Romeo"
    let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    let read = try context.read(word: bytes, state: first)
    #expect(try context.predict(word: "Romeo", state: first).state.values == read.values)
  }

  @Test(arguments: ["tiny-gru", "tiny-lstm-characters"])
  func readingATextIsReadingItsWords(name: String) throws {
    let context = try TinySequence.context(name)
    let isWords = name == "tiny-gru"
    let text = isWords ? "O Romeo, night" : "night"
    var expected: (prediction: Prediction, state: SequenceState)?
    for word in isWords ? ["O", "Romeo", ",", "night"] : ["n", "i", "g", "h", "t"] {
      expected = try context.predict(word: word, state: expected?.state)
    }
    let found = try context.predict(after: text)
    #expect(found.state.values == expected?.state.values)
    #expect(found.prediction.probabilities == expected?.prediction.probabilities)
    let bytes = Array(text.utf8)
    let read = try bytes.withUnsafeBufferPointer { try context.read(text: $0) }
    #expect(read.values == found.state.values)
    let nothing = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    #expect(try context.read(text: nothing, state: read).values == read.values)
    #expect(
      try context.predict(after: "", state: read).prediction.probabilities == found.prediction.probabilities)
    #expect(status { _ = try context.read(text: nothing) } == .invalidArgument)
    #expect(status { _ = try context.predict(after: "") } == .invalidArgument)
  }

  @Test func theVocabularyIsThatOfTheWords() throws {
    let context = try TinySequence.shakespeare()
    #expect(context.word(0) == "<unk>" && context.word(1) == "</s>" && context.word(27) == "O")
    #expect(context.vocabularyPiece(id: 4152) == nil && context.vocabularyPiece(id: -1) == nil)
    for id in 0..<Int32(4152) {
      let word = try #require(context.vocabularyPiece(id: id))
      #expect(context.vocabularyID(of: word) == id && word.baseAddress?[word.count] == 0)
    }
    #expect(context.info.task == .predict && context.info.hiddenSize == 256)
    #expect(context.info.precision == .f32 && context.info.instructionSet != nil)
  }
}
