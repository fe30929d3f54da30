import Foundation
import Testing

@testable import BertQACore

/// Directories with random damage load or are refused; nothing else happens.
struct LoadingFuzzTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Damages some bytes, exchanges or removes some, or cuts the end; nearer to the beginning, where
  /// the headers are, more often than not.
  private func damage(_ bytes: inout [UInt8], _ random: inout TestRandom) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let reach = Bool.random(using: &random) ? bytes.count : min(bytes.count, 3000)
      let at = Int.random(in: 0..<reach, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.swapAt(at, Int.random(in: 0..<reach, using: &random))
      case 3: bytes.remove(at: at)
      case 4: bytes.insert(bytes[Int.random(in: 0..<reach, using: &random)], at: at)
      case 5: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      // Digits: sizes and offsets.
      default:
        if let digit = bytes[at...].firstIndex(where: { (0x30...0x39).contains($0) }) {
          bytes[digit] = UInt8.random(in: 0x30...0x39, using: &random)
        }
      }
      if bytes.isEmpty { bytes = [0] }
    }
  }

  /// Loads with one file damaged, many times over.
  private func fuzz(_ names: [String], seed: Int, rounds: Int) throws {
    _ = try LoadedModel(ModelDirectory(path: directory.path))
    let originals = try names.map(directory.bytes)
    var random = TestRandom(seed)
    var (loaded, refused) = (0, 0)
    for _ in 0..<rounds {
      let file = Int.random(in: 0..<names.count, using: &random)
      var bytes = originals[file]
      damage(&bytes, &random)
      try directory.write(bytes, to: names[file])
      do {
        let model = try LoadedModel(ModelDirectory(path: directory.path))
        // Reads every byte that the tensors claim.
        model.withTensors { tensors in
          for tensor in tensors { _ = tensor.floats }
        }
        loaded += 1
      } catch {
        #expect(!error.message.isEmpty)
        refused += 1
      }
      try directory.write(originals[file], to: names[file])
    }
    // Damage to weights alone loads; both outcomes must be common for the test to mean anything.
    #expect(loaded > rounds / 50)
    #expect(refused > rounds / 4)
  }

  private static let small = TinyCheckpoint(hidden: 4, heads: 1, inner: 8, layers: 1)

  @Test func floats() throws {
    try Self.small.write(to: directory)
    try directory.write("{\"do_lower_case\": false}", to: "tokenizer_config.json")
    try fuzz(
      ["model.safetensors", "model.safetensors", "config.json", "vocab.txt", "tokenizer_config.json"],
      seed: 1, rounds: 2000)
  }

  @Test(arguments: [EncoderFamily.roberta, .electra, .albert])
  func otherFamilies(family: EncoderFamily) throws {
    try TinyCheckpoint(family, hidden: 4, heads: 1, inner: 8, layers: 2).write(to: directory)
    try fuzz(["model.safetensors", "config.json", "config.json"], seed: 3, rounds: 500)
  }

  @Test func int8() throws {
    let source = try TemporaryDirectory()
    try Self.small.write(to: source)
    let output = directory.path
    try directory.discard()
    try Quantizer.quantize(ModelDirectory(path: source.path), to: output)
    try fuzz(["model.safetensors", "model.safetensors", "config.json"], seed: 2, rounds: 1000)
  }

  @Test func embedding() throws {
    try TinyCheckpoint(task: .embed, hidden: 4, heads: 1, inner: 8, layers: 1).write(to: directory)
    try directory.makeDirectory("1_Pooling")
    try directory.write(
      "{\"word_embedding_dimension\": 4, \"pooling_mode_mean_tokens\": true}", to: "1_Pooling/config.json")
    try directory.write(
      """
      [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
       {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
      """, to: "modules.json")
    try directory.write("{\"max_seq_length\": 12}", to: "sentence_bert_config.json")
    try fuzz(
      ["modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "config.json"], seed: 5,
      rounds: 1000)
  }

  @Test func labels() throws {
    try TinyCheckpoint(task: .classify, hidden: 4, heads: 1, inner: 8, layers: 1).write(to: directory)
    try fuzz(["config.json"], seed: 6, rounds: 1000)
  }

  @Test(arguments: PromptedRecognizerTests.models) func prompted(model: String) throws {
    try directory.copyFiles(ofTiny: model)
    let weights = try #require(
      try directory.names.first { $0.hasSuffix(".safetensors") || $0.hasSuffix(".bin") })
    try fuzz(
      ["gliner_config.json", "gliner_config.json", "tokenizer.json", weights], seed: 11, rounds: 400)
  }

  @Test func shards() throws {
    try Self.small.write(to: directory, shards: 2)
    try fuzz(
      ["model.safetensors.index.json", "model-00001-of-00002.safetensors"], seed: 3, rounds: 1000)
  }

  @Test func tokenizerJSON() throws {
    try Self.small.write(to: directory)
    try directory.remove("vocab.txt")
    let vocabulary = Self.small.vocabulary.enumerated().map { "\"\($1)\": \($0)" }
    try directory.write(
      """
      {"model": {"type": "WordPiece", "vocab": {\(vocabulary.joined(separator: ", "))}},
       "normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": true}}
      """, to: "tokenizer.json")
    try fuzz(["tokenizer.json"], seed: 4, rounds: 1000)
  }
}
