import Foundation
import Testing

@testable import BertQACore

/// Sentences, and what the package gliner finds in them (generate-tiny-gliner.py).
private struct PromptedTexts: Decodable {
  var labels: [String]
  var threshold: Float
  var texts: [String]
  var flat: [[FoundEntity]]
  var nested: [[FoundEntity]]

  init(_ model: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: TinyModel.path(model) + "/expected.json"))
    self = try JSONDecoder().decode(Self.self, from: data)
  }
}

@Suite struct PromptedRecognizerTests {
  /// The first one scores spans, the second one words.
  static let models = ["tiny-gliner", "tiny-gliner-tokens"]
  private let expected: PromptedTexts
  private let options: EntityOptions

  init() throws {
    expected = try PromptedTexts("tiny-gliner")
    options = Self.options(expected)
  }

  private static func options(_ texts: PromptedTexts) -> EntityOptions {
    var options = EntityOptions()
    options.labels = texts.labels
    options.threshold = texts.threshold
    return options
  }

  private func expectEqual(_ found: [Entity], _ wanted: [FoundEntity]) {
    let found = found.map(FoundEntity.init)
    for (var one, other) in pairs(found, wanted) {
      #expect(abs(one.score - other.score) < 1e-4)
      one.score = other.score
      #expect(one == other)
    }
  }

  @Test(arguments: Context.instructionSets, [1, 2])
  func entitiesAreThoseOfThePackage(isa: InstructionSet, threads: Int) throws {
    for model in Self.models {
      let context = try Context(tiny: model, threads: threads, isa: isa)
      let expected = try PromptedTexts(model)
      let results = try context.entities(of: expected.texts, options: Self.options(expected))
      for (result, list) in pairs(results, expected.flat) {
        #expect(result.windowCount == 1)
        expectEqual(result.entities, list)
      }
    }
  }

  @Test(arguments: models) func nestedEntitiesAreThoseOfThePackage(model: String) throws {
    let expected = try PromptedTexts(model)
    var options = Self.options(expected)
    options.isNested = true
    let results = try Context(tiny: model).entities(of: expected.texts, options: options)
    for (result, list) in pairs(results, expected.nested) {
      expectEqual(result.entities, list.sorted { ($0.start, -$0.end) < ($1.start, -$1.end) })
    }
  }

  @Test(arguments: models) func thresholdLeavesOutLowerScores(model: String) throws {
    let context = try Context(tiny: model)
    let expected = try PromptedTexts(model)
    var options = Self.options(expected)
    options.threshold = 0
    let usual = try context.entities(of: expected.texts, options: options)
    let found = try context.entities(of: expected.texts, options: Self.options(expected))
    #expect(usual.map(\.entities) == found.map(\.entities))
    options.threshold = 1e-9
    let all = try context.entities(of: expected.texts[0], options: options).entities
    // Every word is in an entity.
    let rest = Array(expected.texts[0].utf8).enumerated().filter { byte in
      !all.contains { $0.bytes.start <= byte.offset && byte.offset < $0.bytes.end }
    }
    #expect(rest.allSatisfy { $0.element == UInt8(ascii: " ") })
    options.threshold = 1
    #expect(try context.entities(of: expected.texts, options: options).allSatisfy(\.entities.isEmpty))
  }

  /// With one label, a label's own threshold has the effect of the call's, and another label's has none.
  @Test(arguments: models + ["tiny-bert-entities"]) func labelsHaveThresholds(model: String) throws {
    let context = try Context(tiny: model)
    let isPrompted = Self.models.contains(model)
    let texts = try PromptedTexts("tiny-gliner").texts
    var options = EntityOptions()
    options.labels = isPrompted ? ["film or river"] : ["PER", "LOC"]
    options.threshold = 1e-6
    let all = try context.entities(of: texts, options: options).flatMap(\.entities)
    let scores = all.filter { $0.label == options.labels[0] }.map(\.score).sorted()
    try #require(scores.count > 4)
    let middle = scores[scores.count / 2]
    options.thresholds = [middle] + (isPrompted ? [] : [0])
    let own = try context.entities(of: texts, options: options).flatMap(\.entities)
    #expect(own.count < all.count && !own.isEmpty)
    if isPrompted {
      options.threshold = middle
      options.thresholds = []
      #expect(try context.entities(of: texts, options: options).flatMap(\.entities) == own)
    } else {
      #expect(own == all.filter { $0.label != options.labels[0] || $0.score >= middle })
    }
    for (thresholds, part) in [([Float(0.5), 0.5, 0.5], "thresholds has 3"), ([.nan], "thresholds has nan")] {
      var options = options
      options.labels = [options.labels[0]]
      options.thresholds = thresholds
      let error = failure { try context.validate(options) }
      #expect(error?.status == .invalidArgument)
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  /// A text that is longer than a window is read to its end, in windows that end where sentences do.
  @Test(arguments: models) func longTextsAreReadInWindows(model: String) throws {
    let context = try Context(tiny: model, threads: 2)
    let expected = try PromptedTexts(model)
    let options = Self.options(expected)
    let sentence = expected.texts[0]
    let count = 120
    let text = Array(repeating: sentence, count: count).joined(separator: "\n\n")
    let result = try context.entities(of: text, options: options)
    #expect(result.windowCount > 1)
    let places = Set(result.entities.map { $0.bytes.start / (sentence.utf8.count + 2) })
    #expect(places.count > count / 2 && places.contains { $0 > count - 8 })
    for (one, next) in zip(result.entities, result.entities.dropFirst()) {
      #expect(one.bytes.end <= next.bytes.start)
    }
    // One sentence without an end: windows overlap, and each span is found once.
    let words = Array(repeating: "king of the river", count: 300).joined(separator: " ")
    let found = try context.entities(of: words, options: options)
    #expect(found.windowCount > 2)
    for (one, next) in zip(found.entities, found.entities.dropFirst()) {
      #expect(one.bytes.end <= next.bytes.start)
    }
    var nested = options
    nested.isNested = true
    let all = try context.entities(of: words, options: nested).entities
    #expect(Set(all.map { [$0.bytes.start, $0.bytes.end] }).count == all.count)
    #expect(all.count > found.entities.count)
  }

  @Test func textsWithoutWordsHaveNone() throws {
    let context = try Context(tiny: "tiny-gliner")
    for text in ["", " \n\t\u{3000}"] {
      let result = try context.entities(of: text, options: options)
      #expect(result.entities.isEmpty && result.windowCount == 0)
    }
    let bytes: [UInt8] = [0xFF, 0x20, 0xC3, 0x61, 0xE4, 0xB8]
    let result = try bytes.withElements { bytes throws(BertQAError) in
      try context.entities(of: bytes, options: options)
    }
    #expect(result.entities.allSatisfy { $0.bytes.end <= bytes.count })
  }

  @Test func labelsAreWhatIsFound() throws {
    let context = try Context(tiny: "tiny-gliner")
    var twice = options
    twice.labels += options.labels
    let results = try context.entities(of: expected.texts, options: twice)
    for (result, list) in pairs(results, expected.flat) { expectEqual(result.entities, list) }
    for (labels, part) in [
      ([String](), "labels is empty"), (["person", " "], "a label that is blank or contains a NUL at 1"),
      ((0..<900).map { "kind \($0)" }, "labels have"),
    ] {
      var options = options
      options.labels = labels
      let error = failure { _ = try context.entities(of: "a", options: options) }
      #expect(error?.status == .invalidArgument)
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
      #expect(failure { try context.validate(options) }?.status == .invalidArgument)
    }
    var aggregated = options
    aggregated.aggregation = .simple
    #expect(failure { try context.validate(aggregated) }?.message.contains("aggregation") == true)
    var other = EntityOptions()
    other.isNested = true
    let labeler = try Context(tiny: "tiny-bert-entities")
    #expect(failure { try labeler.validate(other) }?.message.contains("nested") == true)
  }

  /// Returns the error of loading a model with another setting.
  private func refusal(
    _ key: String, _ value: Any, model: String = "tiny-gliner"
  ) throws -> BertQAError? {
    var files: [String: [UInt8]] = [:]
    let weights = model == "tiny-gliner" ? "model.safetensors" : "pytorch_model.bin"
    for name in ["gliner_config.json", weights, "tokenizer.json", "tokenizer_config.json"] {
      files[name] = Array(
        try Data(contentsOf: URL(fileURLWithPath: "\(TinyModel.path(model))/\(name)")))
    }
    let data = Data(try #require(files["gliner_config.json"]))
    var settings = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    settings[key] = value
    files["gliner_config.json"] = Array(try JSONSerialization.data(withJSONObject: settings))
    return failure { _ = try Context(model: ModelDirectory(files: files)) }
  }

  @Test func otherModelsAreRefused() throws {
    #expect(try refusal("max_types", 1) == nil)
    let others: [(String, Any)] = [
      ("span_mode", "conv_share"), ("relations_layer", "x"), ("labels_decoder", "gpt2"),
      ("subtoken_pooling", "mean"), ("labels_encoder", "bert"),
      ("fuse_layers", true),
      ("words_splitter_type", "spacy"),
    ]
    for (key, value) in others {
      let error = try refusal(key, value)
      #expect(error?.status == .unsupported)
      #expect(error?.message.contains(key) == true)
    }
    let error = try refusal("represent_spans", true, model: "tiny-gliner-tokens")
    #expect(error?.status == .unsupported && error?.message.contains("represent_spans") == true)
    #expect(try refusal("span_mode", "token_level")?.message.contains("scorer.proj_token") == true)
    // The tokenizer has another id, and the checkpoint other layers.
    #expect(try refusal("class_token_index", 7)?.status == .invalidModel)
    #expect(try refusal("num_rnn_layers", 2)?.message.contains("rnn.lstm.weight_ih_l1") == true)
  }
}
