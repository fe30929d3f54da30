import Dispatch
import Synchronization
import Testing

@testable import BertQACore

@Suite struct SequenceStepTests {
  @Test(arguments: TinySequence.names, instructionSets)
  func logitsAndStatesAreThoseOfPyTorch(name: String, isa: Int32) throws {
    let tiny = try TinySequence(name)
    let context = try tiny.context(isa: isa)
    #expect(!tiny.sequences.isEmpty)
    for expected in tiny.sequences {
      var state: SequenceState?
      for (id, logits) in pairs(expected.ids, expected.logits) {
        let (next, found) = try context.stepWithLogits([id], [state])
        #expect(pairs(found[0], logits).allSatisfy { abs($0 - $1) <= 5e-6 })
        state = next[0]
      }
      let values = try #require(state).values
      #expect(values.count == expected.state.count && values.count == context.info.stateLength)
      #expect(pairs(values, expected.state).allSatisfy { abs($0 - $1) <= 5e-6 })
    }
  }

  /// Sequences of any length, in any place of a batch of any size, on any number of threads.
  @Test(arguments: TinySequence.names, instructionSets)
  func companyAndThreadsChangeNoBit(name: String, isa: Int32) throws {
    let tiny = try TinySequence(name)
    let alone = try tiny.context(isa: isa)
    let size = Int32(alone.info.vocabularySize)
    for threads in [1, 3] {
      let context = try tiny.context(isa: isa, threads: threads)
      for count in [1, 2, 5, 7, 64, 65, 130] {
        var states: [SequenceState?] = Array(repeating: nil, count: count)
        var references = states
        for word in 0..<3 {
          let ids = (0..<count).map { Int32($0 * 5 + word * 3) % size }
          let (next, logits) = try context.stepWithLogits(ids, states)
          for index in 0..<count {
            let (expected, own) = try alone.stepWithLogits([ids[index]], [references[index]])
            #expect(next[index].values == expected[0].values && logits[index] == own[0])
            references[index] = expected[0]
          }
          // Some begin anew.
          states = next.enumerated().map { $0.offset % 4 == word ? nil : $0.element }
          references = references.enumerated().map { $0.offset % 4 == word ? nil : $0.element }
        }
      }
    }
  }

  /// A model whose products are worth dividing among threads.
  @Test(arguments: instructionSets)
  func threadsChangeNoBitOfALargeStep(isa: Int32) throws {
    let ids = (0..<70).map { Int32($0 * 59) }
    let one = try TinySequence.shakespeare(isa: isa)
    let first = try one.stepWithLogits(ids, Array(repeating: nil, count: ids.count))
    let expected = try one.stepWithLogits(ids.reversed(), first.states)
    for threads in [2, 3, 16] {
      let context = try TinySequence.shakespeare(isa: isa, threads: threads)
      let states = try context.stepWithLogits(ids, Array(repeating: nil, count: ids.count)).states
      let found = try context.stepWithLogits(ids.reversed(), states)
      #expect(found.logits == expected.logits)
      #expect(found.states.map(\.values) == expected.states.map(\.values))
    }
  }

  @Test func statesAreNotChangedByWhatFollowsThem() throws {
    let context = try TinySequence.context("tiny-lstm")
    let state = try context.state(after: [3, 9])
    let before = try #require(state).values
    for id in 0..<Int32(context.info.vocabularySize) { _ = try context.stepWithLogits([id], [state]) }
    #expect(try #require(state).values == before)
    // The same word and state, also twice in one batch.
    let (next, logits) = try context.stepWithLogits([4, 4], [state, state])
    #expect(next[0].values == next[1].values && logits[0] == logits[1])
  }

  @Test func interleavedSequencesDoNotDisturbEachOther() throws {
    let context = try TinySequence.shakespeare()
    let texts = [
      ["O", "Romeo", ",", "Romeo"], ["Good", "night", ",", "good"], ["But", "soft", ",", "what"],
    ]
    let alone = try texts.map { words in
      try words.reduce(into: [(Prediction, SequenceState)]()) { result, word in
        result.append(
          try context.predict(word: word, state: result.last?.1, options: SequenceOptions(topK: 5)))
      }
    }
    var states: [SequenceState?] = Array(repeating: nil, count: texts.count)
    for word in 0..<4 {
      for text in texts.indices.reversed() {
        let (prediction, state) = try context.predict(
          word: texts[text][word], state: states[text], options: SequenceOptions(topK: 5))
        #expect(prediction.probabilities == alone[text][word].0.probabilities)
        #expect(state.values == alone[text][word].1.values)
        states[text] = state
      }
    }
  }

  @Test func manyThreadsShareAContext() throws {
    let context = try TinySequence.shakespeare(threads: 2)
    let prompts = ["O Romeo", "But soft", "Good night", "Thou art"]
    let expected = try prompts.map { try context.generate(prompt: $0).text }
    let wrong = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { caller in
      for round in 0..<5 {
        let which = (caller + round) % prompts.count
        if (try? context.generate(prompt: prompts[which]).text) != expected[which] {
          wrong.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
  }

  @Test func badArgumentsThrow() throws {
    let context = try TinySequence.context("tiny-lstm")
    let size = Int32(context.info.vocabularySize)
    let foreign = try TinySequence.context("tiny-gru").state(after: [1])
    for id in [-1, size, .max, .min] {
      #expect { try context.stepWithLogits([0, id], [nil, nil]) } throws: {
        ($0 as? BertQAError)?.status == .invalidArgument && "\($0)".contains("ids[1]")
      }
    }
    #expect { try context.stepWithLogits([0, 1, 2], [nil, nil, foreign]) } throws: {
      ($0 as? BertQAError)?.status == .wrongModel && "\($0)".contains("states[2]")
    }
    #expect(status { _ = try context.stepWithLogits([0, 1], [nil]) } == .invalidArgument)
    #expect(try context.stepWithLogits([], []).states.isEmpty)
    #expect(status { _ = try context.predict(word: "O", state: foreign) } == .wrongModel)
    #expect(status { _ = try context.generate(prompt: "O", state: foreign) } == .wrongModel)
    #expect(status { _ = try context.likelihood(of: "O", after: foreign) } == .wrongModel)
    #expect(status { _ = try context.answer(question: "a", document: "b") } == .wrongModel)
    #expect(status { _ = try context.tokenize("a") } == .wrongModel)
    #expect(status { _ = try context.classify("a") } == .wrongModel)
    let answering = try Context(modelDirectory: TinyModel.path("tiny-bert"))
    #expect(status { _ = try answering.predict(word: "a") } == .wrongModel)
    #expect(status { _ = try answering.state(values: []) } == .wrongModel)
  }
}
