import Testing

@testable import BertQACore

@Suite struct SequenceStateTests {
  private static func deserialize(_ bytes: [UInt8], _ context: Context) throws -> SequenceState {
    try bytes.withUnsafeBytes { try context.state(serialized: $0) }
  }

  @Test(arguments: TinySequence.names)
  func exportAndSerializationAreIdentities(name: String) throws {
    let context = try TinySequence.context(name)
    for ids in [[1], [3, 4, 5, 6], Array(0..<17)] as [[Int32]] {
      let state = try #require(try context.state(after: ids))
      let imported = try context.state(values: state.values)
      let read = try Self.deserialize(state.serialized, context)
      let expected = try context.stepWithLogits([2], [state])
      for copy in [imported, read] {
        #expect(copy.values == state.values && copy.serialized == state.serialized)
        let found = try context.stepWithLogits([2], [copy])
        #expect(found.logits == expected.logits && found.states[0].values == expected.states[0].values)
      }
      #expect(state.serialized.count == state.serializedCount)
      // Another context of the same files is the same model.
      let other = try TinySequence.context(name, isa: 1)
      #expect(try Self.deserialize(state.serialized, other).values == state.values)
    }
  }

  @Test func aStateOfZerosIsTheBeginning() throws {
    let context = try TinySequence.shakespeare()
    let zeros = try context.state(values: [Float](repeating: 0, count: 512))
    #expect(context.info.stateLength == 512)
    let (fromZeros, fromNothing) = (
      try context.predict(word: "O", state: zeros), try context.predict(word: "O")
    )
    #expect(fromZeros.prediction.probabilities == fromNothing.prediction.probabilities)
  }

  @Test func anotherModelsStateIsRefused() throws {
    // The same shape with one bit of one weight changed.
    let directory = try TemporaryDirectory()
    let tiny = try TinySequence("tiny-lstm")
    for file in ["config.json", "vocab.txt", "model.safetensors"] {
      try directory.write(bytes(ofFile: "\(tiny.directory)/\(file)"), to: file)
    }
    var weights = try directory.bytes("model.safetensors")
    weights[weights.count - 4] ^= 1
    try directory.write(weights, to: "model.safetensors")
    let (context, other) = (try tiny.context(), try Context(modelDirectory: directory.path))
    let state = try #require(try context.state(after: [1]))
    #expect(status { _ = try Self.deserialize(state.serialized, other) } == .wrongModel)
    #expect(status { _ = try other.stepWithLogits([1], [state]) } == .wrongModel)
    // Values carry no name: these are taken.
    #expect(try other.state(values: state.values).values == state.values)
  }

  @Test func badValuesAreRefused() throws {
    let context = try TinySequence.context("tiny-gru")
    let length = context.info.stateLength
    #expect(length == 48)
    for count in [0, 1, length - 1, length + 1, 2 * length] {
      #expect(status { _ = try context.state(values: Array(repeating: 0, count: count)) } == .invalidArgument)
    }
    for bad in [Float.nan, .infinity, -.infinity] {
      var values = [Float](repeating: 0.5, count: length)
      values[length - 1] = bad
      #expect(status { _ = try context.state(values: values) } == .invalidArgument)
    }
  }

  @Test func hostileBytesAreRefused() throws {
    let context = try TinySequence.context("tiny-gru")
    let bytes = try #require(try context.state(after: [1, 2])).serialized
    for count in 0..<bytes.count {
      #expect(status { _ = try Self.deserialize(Array(bytes[..<count]), context) } == .invalidArgument)
    }
    #expect(status { _ = try Self.deserialize(bytes + [0], context) } == .invalidArgument)
    #expect(status { _ = try Self.deserialize(bytes + bytes, context) } == .invalidArgument)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0x10
      #expect(status { _ = try Self.deserialize(changed, context) } == .invalidArgument, "byte \(index)")
    }
    var random = TestRandom(5)
    for _ in 0..<200 {
      let count = Int.random(in: 0...300, using: &random)
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(status { _ = try Self.deserialize(noise, context) } == .invalidArgument)
    }
  }

  /// Values that no sequence leads to give a status or numbers, never a trap.
  @Test func enormousValuesAreSurvived() throws {
    for name in TinySequence.names {
      let context = try TinySequence.context(name)
      for value in [Float.greatestFiniteMagnitude, -3e38, .leastNonzeroMagnitude] {
        let state = try context.state(values: Array(repeating: value, count: context.info.stateLength))
        let found = status { _ = try context.generate(prompt: "O", state: state) }
        #expect(found == nil || found == .invalidModel)
        _ = status { _ = try context.generate(prompt: "", state: state) }
        _ = status { _ = try context.likelihood(of: "O Romeo", after: state) }
      }
    }
  }
}
