import Foundation
import Testing

@testable import BertQACore

/// The differences between families that tests of logits and vectors do not cover.
@Suite struct FamilyTests {
  /// Ids of windows and the logits of every token's labels (generate-tiny-families.py).
  private struct Expected: Decodable {
    var ids: [[Int32]]
    var logits: [[[Float]]]

    init(_ name: String) throws {
      let data = try Data(contentsOf: URL(fileURLWithPath: TinyModel.path(name) + "/expected.json"))
      self = try JSONDecoder().decode(Self.self, from: data)
    }
  }

  @Test(
    arguments: [
      "tiny-xlm-roberta-entities", "tiny-electra-entities", "tiny-albert-entities", "tiny-mpnet-entities",
      "tiny-deberta-entities", "tiny-modernbert-entities", "tiny-mobilebert-entities",
      "tiny-longformer-entities",
    ],
    instructionSets)
  func labelsOfTokensAreThoseOfTransformers(name: String, isa: Int32) throws {
    let expected = try Expected(name)
    let model = try LoadedModel(ModelDirectory(path: TinyModel.path(name)))
    let encoder = try Encoder(
      model: model, precision: .f32, kernels: try #require(Kernels(isa: isa)), threadLimit: 2)
    var batch = WindowBatch()
    for ids in expected.ids {
      batch.windows.append(
        Window(firstToken: batch.ids.count, tokenCount: ids.count, secondSegment: ids.count))
      batch.ids += ids
    }
    let outputs = try encoder.outputs(of: batch)
    #expect(outputs.columns == model.configuration.labels.count)
    let count = batch.ids.count
    let found = (0..<count).map { token in (0..<outputs.columns).map { outputs.values[$0 * count + token] } }
    #expect(distance(found, Array(expected.logits.joined())) < 1e-4)
  }

  /// The table has rows for padding and what comes before it, which no other token takes.
  @Test func positionsAreAsManyAsTheTableHasAfterPadding() throws {
    let tiny = try TinyModel("tiny-roberta")
    #expect(tiny.model.configuration.maxPositions == 64)
    let encoder = try #require(try tiny.encoder())
    #expect(try encoder.logits(of: tiny.batch(lengths: [64])).start.allSatisfy(\.isFinite))
    let error = failure { _ = try encoder.logits(of: tiny.batch(lengths: [65])) }
    #expect(error?.status == .invalidArgument)
    #expect(error?.message == "a window has 65 tokens; this model takes at most 64")
  }

  /// RoBERTa's tokenizers return no token types, whatever the table has.
  @Test func segmentsAreForFamiliesThatReadThem() throws {
    for (name, reads) in [("tiny-roberta", false), ("tiny-electra", true), ("tiny-albert", true)] {
      let encoder = try #require(try TinyModel(name).encoder())
      func logits(second: Int) throws -> [Float] {
        try encoder.logits(
          of: WindowBatch(
            ids: [7, 8, 9, 10], windows: [Window(firstToken: 0, tokenCount: 4, secondSegment: second)])
        ).start
      }
      #expect(try (logits(second: 2) != logits(second: 4)) == reads)
    }
    let context = try Context(tiny: "tiny-camembert-classifier")
    #expect(try LoadedModel(ModelDirectory(path: context.info.directory)).configuration.typeVocabSize == 2)
  }

  /// `model_input_names` of tokenizer_config.json decides, where it is there.
  @Test func tokenTypesAreGivenAsTheTokenizerSays() throws {
    let directory = try TemporaryDirectory()
    for (family, isGiven) in [(EncoderFamily.bert, true), (.albert, true), (.roberta, false)] {
      try TinyCheckpoint(family).write(to: directory)
      func given(_ settings: String) throws -> Bool {
        try directory.write(settings, to: "tokenizer_config.json")
        return try LoadedModel(ModelDirectory(path: directory.path)).configuration.hasSegmentTypes
      }
      #expect(try given("{}") == isGiven)
      #expect(try given("{\"model_input_names\": [\"input_ids\", \"attention_mask\"]}") == false)
      #expect(try given("{\"model_input_names\": [\"input_ids\", \"token_type_ids\"]}"))
      // Of the class, whatever the family: its template has types.
      #expect(try given("{\"tokenizer_class\": \"BertTokenizer\"}"))
      #expect(try given("{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}"))
      #expect(try !given("{\"tokenizer_class\": \"TokenizersBackend\"}"))
      #expect(try !given("{\"tokenizer_class\": \"DistilBertTokenizer\"}"))
      #expect(
        try !given(
          "{\"tokenizer_class\": \"MPNetTokenizer\", \"cls_token\": \"[CLS]\", \"sep_token\": \"[SEP]\"}"))
    }
  }

  /// A BERT with the tokenizer of XLM-RoBERTa, whose template has no types, gets none.
  @Test func tokenTypesAreThoseOfTheTemplate() throws {
    let directory = try TemporaryDirectory()
    try TinyCheckpoint().write(to: directory)
    let vocabulary = TinyCheckpoint().vocabulary.enumerated().map { "\"\($1)\": \($0)" }.joined(
      separator: ", ")
    for (processor, isGiven) in [("BertProcessing", true), ("RobertaProcessing", false)] {
      try directory.write(
        """
        {"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {\(vocabulary)}}, "normalizer": {"type": "NFC"},
        "post_processor": {"type": "\(processor)", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}}
        """, to: "tokenizer.json")
      for settings in ["{}", "{\"model_input_names\": [\"input_ids\", \"token_type_ids\"]}"] {
        try directory.write(settings, to: "tokenizer_config.json")
        let model = try LoadedModel(ModelDirectory(path: directory.path))
        #expect(model.configuration.hasSegmentTypes == isGiven)
      }
    }
  }

  /// Layers that share weights share their converted form too.
  @Test func sharedLayersAreConvertedOnce() throws {
    let tiny = try TinyModel("tiny-albert")
    #expect(tiny.model.encoder.layerOrder == [0, 0, 1])
    let layers = try #require(try tiny.encoder(precision: .int8)).parameters.layers
    #expect(layers.count == 3)
    func scales(_ layer: Parameters.Layer) -> UnsafePointer<Float>? {
      guard case .int8(let weights) = layer.output.weights else { return nil }
      return weights.scale
    }
    #expect(scales(layers[0]) != nil && scales(layers[0]) == scales(layers[1]))
    #expect(scales(layers[0]) != scales(layers[2]))
  }
}
