import Foundation
import Testing

@testable import BertQACore

/// Sentences, what transformers' model computes of them and what its pipeline finds (generate-tiny-models.py).
private struct TaggedTexts: Decodable {
  var texts: [String]
  /// [text][token][label]
  var logits: [[[Float]]]
  /// By strategy and text.
  var entities: [String: [[FoundEntity]]]

  init(_ name: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: TinyModel.path(name) + "/expected.json"))
    self = try JSONDecoder().decode(Self.self, from: data)
  }
}

@Suite struct EntityRecognizerTests {
  static let names = ["tiny-bert-entities", "tiny-distilbert-entities"]

  private func recognizer(_ context: Context) throws -> EntityRecognizer {
    guard case .entities(let finder) = context.engine, let recognizer = finder as? EntityRecognizer else {
      throw BertQAError(.internal, "no recognizer")
    }
    return recognizer
  }

  @Test(arguments: names, Context.instructionSets)
  func logitsAreThoseOfTransformers(name: String, isa: InstructionSet) throws {
    let expected = try TaggedTexts(name)
    let recognizer = try recognizer(Context(tiny: name, threads: 2, isa: isa))
    let tokenizer = recognizer.reader.tokenizer
    var batch = WindowBatch()
    for text in expected.texts {
      let ids = try withBytes(of: text) { bytes throws(BertQAError) in
        try tokenizer.tokens(of: bytes, nil).ids
      }
      batch.append(first: ids[...], second: nil, tokenizer.template)
    }
    let outputs = try recognizer.reader.model.outputs(of: batch, giving: nil, nil)
    let logits = batch.windows.flatMap { window in
      (window.firstToken..<window.firstToken + window.tokenCount).map { token in
        (0..<outputs.columns).map { outputs.values[$0 * batch.ids.count + token] }
      }
    }
    #expect(distance(logits, expected.logits.flatMap { $0 }) < 1e-4)
  }

  @Test(arguments: names, TokenAggregation.allCases)
  func entitiesAreThoseOfTransformers(name: String, aggregation: TokenAggregation) throws {
    let expected = try TaggedTexts(name)
    let context = try Context(tiny: name)
    var options = EntityOptions()
    options.aggregation = aggregation
    let results = try context.entities(of: expected.texts, options: options)
    let strategy = aggregation == .model ? "simple" : aggregation.description
    let lists = try #require(expected.entities[strategy])
    for (text, (result, list)) in pairs(expected.texts, Array(pairs(results, lists))) {
      #expect(result.windowCount == 1)
      for (entity, found) in pairs(result.entities, list) {
        var same = FoundEntity(entity)
        #expect(abs(same.score - found.score) < 2e-5)
        same.score = found.score
        #expect(same == found)
        // One range in three units.
        let scalars = Array(text.unicodeScalars)[found.start..<found.end]
        #expect(entity.text(in: text) == String(String.UnicodeScalarView(scalars)))
        #expect(String(text[entity.range(in: text)]) == entity.text(in: text))
        #expect(entity.text(in: "").isEmpty, "a text that was not read")
        let utf16 = Array(text.utf16)[entity.utf16.start..<entity.utf16.end]
        #expect(String(decoding: utf16, as: UTF16.self) == entity.text(in: text))
      }
    }
  }

  /// Labelling a text's tokens window by window, by the rule, must lead to the same result as the whole call.
  @Test(arguments: TokenAggregation.allCases, [(10, 0), (16, 4), (16, 5), (16, 13), (33, 8)])
  func longTextsAreReadInWindows(aggregation: TokenAggregation, shape: (length: Int, overlap: Int)) throws {
    let context = try Context(tiny: "tiny-bert-entities", threads: 2)
    let recognizer = try recognizer(context)
    let tokenizer = recognizer.reader.tokenizer
    let text = try TaggedTexts("tiny-bert-entities").texts.joined(separator: " ") + " \u{1F98A} end"
    var options = EntityOptions()
    options.aggregation = aggregation
    options.maxSequenceLength = shape.length
    options.documentStride = shape.overlap
    let result = try context.entities(of: text, options: options)

    let expected = try withBytes(of: text) { bytes throws(BertQAError) in
      let tokens = try tokenizer.tokens(of: bytes, nil)
      let room = shape.length - 2
      let windows = try TokenWindow.layout(
        tokenCount: tokens.count, room: room, overlap: shape.overlap)
      var batch = WindowBatch()
      for window in windows {
        batch.append(first: tokens.ids[window.tokens], second: nil, tokenizer.template)
      }
      let outputs = try recognizer.reader.model.outputs(of: batch, giving: nil, nil)
      let strategy = aggregation == .model ? TokenAggregation.simple : aggregation
      var aggregator = EntityAggregator(
        recognizer.labels, strategy,
        thresholds: try recognizer.labels.thresholds(options, strategy),
        CallMonitor(CallOptions()))
      for token in 0..<tokens.count {
        // The window in which fewer tokens of the text are missing on the token's poorer side.
        func context(_ window: TokenWindow) -> Int {
          let before = window.firstToken == 0 ? Int.max : token - window.firstToken
          let after = window.endToken == tokens.count ? Int.max : window.endToken - 1 - token
          return min(before, after)
        }
        let best = windows.indices.filter { windows[$0].tokens.contains(token) }
          .max { (context(windows[$0]), $1) < (context(windows[$1]), $0) }
        let index = best ?? 0
        let at = batch.windows[index].firstToken + 1 + token - windows[index].firstToken
        var probabilities = (0..<outputs.columns).map {
          Double(outputs.values[$0 * batch.ids.count + at])
        }
        try probabilities.withMutableElements { buffer throws(BertQAError) in
          if let base = buffer.baseAddress { softmax(base, count: buffer.count) }
          try aggregator.add(
            UnsafeBufferPointer(buffer), TextEdges(text: bytes).range(of: token, of: tokens),
            continuesWord: tokenizer.continuesWord(token, of: tokens, in: bytes))
        }
      }
      try aggregator.finish()
      return (found: aggregator.found, windowCount: windows.count)
    }
    #expect(result.windowCount == expected.windowCount && expected.windowCount > 2)
    #expect(result.entities.map(\.bytes.start) == expected.found.map { Int($0.start) })
    #expect(result.entities.map(\.bytes.end) == expected.found.map { Int($0.end) })
    #expect(result.entities.map(\.score) == expected.found.map(\.score))
    // Slices that end within the text change nothing.
    var small = recognizer
    small.reader.sliceTokens = 20
    let again = try withBytes(of: [text, "a", text]) { texts throws(BertQAError) in
      try all(options) { options throws(BertQAError) in try small.recognizeEach(texts, options) }
    }
    #expect(again.map(\.entities) == [result.entities, again[1].entities, result.entities])
  }

  @Test func labelsAreChosen() throws {
    let context = try Context(tiny: "tiny-bert-entities")
    let texts = try TaggedTexts("tiny-bert-entities").texts
    func found(_ change: (inout EntityOptions) -> Void) throws -> [Entity] {
      var options = EntityOptions()
      change(&options)
      return try context.entities(of: texts, options: options).flatMap(\.entities)
    }
    let every = try found { _ in }
    #expect(Set(every.map(\.label)) == ["PER", "LOC", "MISC-A"])
    #expect(try found { $0.labels = ["I-LOC"] } == found { $0.labels = ["LOC"] })
    #expect(try found { $0.labels = ["LOC"] } == every.filter { $0.label == "LOC" })
    #expect(try found { $0.ignoredLabels = ["O", "LOC"] } == every.filter { $0.label != "LOC" })
    #expect(try found { $0.ignoredLabels = [] }.filter { $0.label != "O" } == every)
    #expect(try Set(found { $0.labels = ["O"] }.map(\.label)) == ["O"])
    #expect(try found { $0.threshold = 0.7 } == every.filter { $0.score >= 0.7 })
    #expect(!every.filter { $0.score < 0.7 }.isEmpty)
    let tokens = try found {
      $0.aggregation = .none
      $0.labels = ["PER", "I-LOC"]
    }
    #expect(Set(tokens.map(\.label)) == ["B-PER", "I-PER", "I-LOC"])
    let error = failure { _ = try found { $0.labels = ["LOC", "PERS"] } }
    #expect(error?.status == .invalidArgument)
    #expect(
      error?.message
        == "labels has \"PERS\" at 1, but the model's labels are \"O\", \"PER\", \"LOC\", \"MISC-A\"")
  }

  @Test func emptyAndBrokenTexts() throws {
    let context = try Context(tiny: "tiny-bert-entities")
    let list = try context.entities(of: "")
    #expect(list.entities.isEmpty && list.windowCount == 0)
    #expect(try context.entities(of: " \n").entities.isEmpty)
    let bytes: [UInt8] = [0xFF, 0x80] + Array("Paris".utf8) + [0xE2, 0x82]
    var options = EntityOptions()
    options.ignoredLabels = []
    options.aggregation = .none
    let found = try bytes.withUnsafeBufferPointer { try context.entities(of: $0, options: options).entities }
    #expect(!found.isEmpty)
    for entity in found {
      #expect(entity.bytes.start < entity.bytes.end && entity.bytes.end <= bytes.count)
    }
    #expect(try context.entities(of: [String]()).isEmpty)
  }

  @Test func badOptionsAndWrongModels() throws {
    let context = try Context(tiny: "tiny-bert-entities")
    #expect(context.info.task == .entities && context.info.labels.count == 7)
    func refusal(_ context: Context, _ change: (inout EntityOptions) -> Void = { _ in }) -> BertQAError? {
      var options = EntityOptions()
      change(&options)
      let thrown = failure { _ = try context.entities(of: "a", options: options) }
      #expect(failure { try context.validate(options) }?.status == thrown?.status)
      return thrown
    }
    #expect(refusal(context) == nil)
    #expect(refusal(context) { $0.maxSequenceLength = 7 }?.status == .invalidArgument)
    #expect(refusal(context) { $0.documentStride = -1 }?.argument == "doc_stride")
    let positions = context.info.maxPositions
    #expect(refusal(context) { $0.documentStride = positions - 2 }?.argument == "doc_stride")
    #expect(refusal(context) { $0.documentStride = positions - 3 } == nil)
    #expect(refusal(context) { $0.threshold = 1.5 }?.argument == "threshold")
    #expect(refusal(context) { $0.threshold = .nan }?.argument == "threshold")
    #expect(refusal(context) { $0.call.cancellation = Cancellation { true } }?.status == .cancelled)
    let error = try #require(refusal(try Context(tiny: "tiny-bert")))
    #expect(error.status == .wrongModel && error.message.contains("ForTokenClassification"))
    #expect(failure { _ = try context.answer(question: "a", document: "b") }?.status == .wrongModel)
    #expect(failure { _ = try context.classify("a") }?.status == .wrongModel)
  }

  @Test func memoryIsCountedAndReleased() throws {
    let context = try Context(tiny: "tiny-bert-entities")
    var options = EntityOptions()
    options.call.maxBytes = 60_000
    let text = String(repeating: "Paris ", count: 2000)
    #expect(failure { _ = try context.entities(of: [text], options: options) } == nil)
    // Twenty of them one after the other need no more than a slice of them.
    options.call.maxBytes = 2_000_000
    #expect(
      failure { _ = try context.entities(of: Array(repeating: text, count: 20), options: options) } == nil)
    options.call.maxBytes = 10_000
    #expect(failure { _ = try context.entities(of: text, options: options) }?.argument == "max_bytes")
  }

  @Test func eachTextFailsAlone() throws {
    let context = try Context(tiny: "tiny-bert-entities")
    let tooLong = UnsafeBufferPointer<UInt8>(
      start: UnsafePointer(bitPattern: 64), count: Int(Int32.max) + 1)
    try withBytes(of: ["Paris", "The King"]) { texts throws(BertQAError) in
      let results = try context.entitiesEach(of: [texts[0], tooLong, texts[1]])
      #expect(try results[0].get().entities == context.entities(of: texts[0]).entities)
      #expect(try results[2].get().entities == context.entities(of: texts[1]).entities)
      guard case .failure(let error) = results[1] else {
        Issue.record("a text of 2 GiB")
        return
      }
      #expect(error.status == .tooLarge && error.item == 1)
    }
  }

  @Test func aModelSaysHowLongItsWindowsAre() throws {
    let directory = try TemporaryDirectory()
    var checkpoint = TinyCheckpoint(task: .entities)
    func windowCount(_ change: (inout EntityOptions) -> Void = { _ in }) throws -> Int {
      try checkpoint.write(to: directory)
      var options = EntityOptions()
      change(&options)
      let context = try Context(modelDirectory: directory.path)
      return try context.entities(of: "the fox jumps. the dog is lazy. the fox is brown.", options: options)
        .windowCount
    }
    #expect(try windowCount() == 1)
    let count = try windowCount { $0.maxSequenceLength = 8 }
    #expect(count > 1)
    checkpoint.config["bertqa"] = .object(.init(members: [.init(key: "max_seq_length", value: .number(8))]))
    #expect(try windowCount() == count)
    #expect(try windowCount { $0.maxSequenceLength = 512 } == 1)
    #expect(try windowCount { $0.documentStride = 0 } == 1)
    checkpoint.config["bertqa"] = .object(.init(members: [.init(key: "max_seq_length", value: .number(7))]))
    let error = try #require(failure { _ = try windowCount() })
    #expect(error.status == .invalidArgument && error.message.contains("7 in the model's files"), "\(error)")
  }

  @Test func aModelSaysHowItsLabelsBecomeEntities() throws {
    let directory = try TemporaryDirectory()
    var checkpoint = TinyCheckpoint(task: .entities)
    func aggregation() throws -> TokenAggregation {
      try checkpoint.write(to: directory)
      return try recognizer(Context(modelDirectory: directory.path)).aggregation
    }
    #expect(try aggregation() == .simple)
    checkpoint.config["bertqa"] = .object(
      .init(members: [.init(key: "aggregation", value: .string("first"))]))
    #expect(try aggregation() == .first)
    checkpoint.config["bertqa"] = .object(
      .init(members: [.init(key: "aggregation", value: .string("model"))]))
    let error = try #require(failure { _ = try aggregation() })
    #expect(error.status == .invalidModel && error.message.contains("\"aggregation\" is \"model\""))
  }
}
