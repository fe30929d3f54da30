import Foundation
import Testing

@testable import BertQACore

struct EmbeddingConfigurationTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try TinyCheckpoint(task: .embed).write(to: directory)
  }

  private func read() throws -> EmbeddingConfiguration {
    try #require(try LoadedModel(ModelDirectory(path: directory.path)).embedding)
  }

  /// Writes modules.json of these kinds, each in the directory that sentence-transformers uses for it.
  private func write(modules kinds: [String], pooling: String? = nil) throws {
    let entries = kinds.enumerated().map { index, kind in
      "{\"path\": \"\(index == 0 ? "" : "\(index)_\(kind)")\", \"type\": \"sentence_transformers.models.\(kind)\"}"
    }
    try directory.write("[\(entries.joined(separator: ", "))]", to: "modules.json")
    guard let pooling else { return }
    try directory.makeDirectory("1_Pooling")
    try directory.write("{\(pooling)}", to: "1_Pooling/config.json")
  }

  @Test func withoutFilesTheMeanOfWhatTheModelTakes() throws {
    let own = try read()
    #expect(own.pooling == .mean && !own.normalizes && own.maxSequenceLength == 16)
  }

  @Test(
    arguments: [
      ("\"pooling_mode_mean_tokens\": true", [.mean]),
      ("\"pooling_mode_cls_token\": true, \"pooling_mode_mean_tokens\": false", [.first]),
      ("\"pooling_mode\": \"cls\", \"embedding_dimension\": 8", [.first]),
      ("\"pooling_mode\": [\"mean\"]", [.mean]), ("\"word_embedding_dimension\": 8", [.mean]), ("", [.mean]),
      ("\"pooling_mode\": \"max\"", [.max]), ("\"pooling_mode\": [\"mean\", \"cls\"]", [.mean, .first]),
      ("\"pooling_mode_mean_tokens\": true, \"pooling_mode_max_tokens\": true", [.max, .mean]),
      ("\"pooling_mode_mean_sqrt_len_tokens\": true", [.meanOfRoot]),
      ("\"pooling_mode_weightedmean_tokens\": true", [.weighted]),
      ("\"pooling_mode_lasttoken\": true", [.last]),
    ] as [(String, [TokenPooling.Mode])])
  func readsPooling(members: String, modes: [TokenPooling.Mode]) throws {
    try write(modules: ["Transformer", "Pooling"], pooling: members)
    #expect(try read().pooling == TokenPooling(modes: modes))
    #expect(try !read().normalizes)
    for modules in [["Normalize"], ["Dropout", "Normalize"]] {
      try write(modules: ["Transformer", "Pooling"] + modules)
      #expect(try read().normalizes)
    }
  }

  @Test func theLeastLengthHolds() throws {
    try directory.write(
      "{\"model_max_length\": 1000000000000000019884624838656}", to: "tokenizer_config.json")
    #expect(try read().maxSequenceLength == 16)
    try directory.write("{\"model_max_length\": 13}", to: "tokenizer_config.json")
    #expect(try read().maxSequenceLength == 13)
    try directory.write(
      "{\"max_seq_length\": 11, \"do_lower_case\": true}", to: "sentence_bert_config.json")
    #expect(try read().maxSequenceLength == 11)
    try directory.write("{\"max_seq_length\": null}", to: "sentence_bert_config.json")
    #expect(try read().maxSequenceLength == 13)
    // Below what has room for a text and its special tokens.
    for length in ["7", "-1e300", "0.5"] {
      try directory.write("{\"max_seq_length\": \(length)}", to: "sentence_bert_config.json")
      let context = try Context(modelDirectory: directory.path)
      #expect(failure { _ = try context.embed("fox") }?.status == .invalidArgument)
    }
  }

  private func refusal() throws -> BertQAError { try #require(failure { _ = try read() }) }

  @Test(arguments: [
    (["Transformer"], nil, "modules \"Transformer\"; supported: Transformer, Pooling"),
    (
      ["Transformer", "Pooling", "Dense"], "", "module \"sentence_transformers.models.Dense\" at \"2_Dense\""
    ),
    (
      ["Pooling", "Transformer"], nil,
      "module \"sentence_transformers.models.Transformer\" at \"1_Transformer\""
    ),
    (["Transformer", "Pooling"], nil, "module \"sentence_transformers.models.Pooling\" at \"1_Pooling\""),
    (["WordEmbeddings", "Pooling"], "", "module \"sentence_transformers.models.WordEmbeddings\""),
    (["Transformer", "Pooling"], "\"pooling_mode\": \"least\"", "pooling mode \"least\"; supported"),
    (
      ["Transformer", "Pooling"], "\"pooling_mode\": [\"mean\", \"x\"]",
      "pooling mode \"mean + x\"; supported"
    ),
    (["Transformer", "Pooling"], "\"pooling_mode\": []", "pooling mode \"\""),
    (
      ["Transformer", "Pooling"], "\"pooling_mode_attention\": true",
      "\"pooling_mode_attention\" is not supported; supported: cls_token, max_tokens"
    ),
  ])
  func refusesUnsupported(modules: [String], pooling: String?, message: String) throws {
    try write(modules: modules, pooling: pooling)
    let error = try refusal()
    #expect(error.status == .unsupported && error.message.contains(message), "\(error)")
  }

  @Test(arguments: [
    ("modules.json", "{}", Status.invalidModel, "modules.json: expected a JSON array"),
    ("modules.json", "[{\"type\": \"Transformer\", \"path\": \"../x\"}]", .invalidModel, "\"../x\""),
    // A slash and a combining mark are one Character.
    (
      "modules.json", "[{\"type\": \"Transformer\", \"path\": \"../\u{301}x\"}]", .invalidModel,
      "expected the name of a directory"
    ),
    ("modules.json", "[", .invalidModel, "modules.json"),
    ("modules.json", "[]", .unsupported, "modules "),
    (
      "sentence_bert_config.json", "{\"max_seq_length\": \"x\"}", .invalidModel,
      "\"max_seq_length\" is \"x\""
    ),
    (
      "config_sentence_transformers.json",
      "{\"default_prompt_name\": \"q\", \"prompts\": {\"query\": \"query: \"}}", .invalidModel,
      "is \"q\", which is not among"
    ),
    (
      "config_sentence_transformers.json", "{\"truncate_dim\": 8}", .unsupported,
      "\"truncate_dim\" is 8; only null"
    ),
    (
      "sentence_bert_config.json", "{\"tokenizer_args\": {\"use_fast\": true, \"model_max_length\": 8}}",
      .unsupported,
      "\"tokenizer_args\" has \"model_max_length\", which libbertqa does not read there: move it to tokenizer_config"
    ),
    (
      "sentence_bert_config.json", "{\"config_kwargs\": {\"hidden_act\": \"relu\"}}", .unsupported,
      "to config.json"
    ),
    ("adapter_config.json", "{}", .unsupported, "adapter_config.json: an adapter of PEFT"),
  ])
  func refusesBadFiles(name: String, text: String, status: Status, message: String) throws {
    try directory.write(text, to: name)
    let error = try refusal()
    #expect(error.status == status && error.message.contains(message), "\(error)")
  }

  @Test func lengthsOfOtherFiles() throws {
    // sentence-transformers' length goes before the tokenizer's, also where it is greater.
    try directory.write("{\"model_max_length\": 9}", to: "tokenizer_config.json")
    for kind in ["roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"] {
      let name = "sentence_\(kind)_config.json"
      try directory.write("{\"max_seq_length\": 12}", to: name)
      #expect(try read().maxSequenceLength == 12)
      try? directory.remove(name)
    }
    try directory.write("{\"max_seq_length\": 10}", to: "sentence_bert_config.json")
    try directory.write("{\"max_seq_length\": 12}", to: "sentence_roberta_config.json")
    #expect(try read().maxSequenceLength == 10)
    try? directory.remove("sentence_bert_config.json")
    try? directory.remove("sentence_roberta_config.json")
    try directory.write("{\"max_len\": 11}", to: "tokenizer_config.json")
    #expect(try read().maxSequenceLength == 11)
  }

  @Test func prompts() throws {
    try write(modules: ["Transformer", "Pooling"], pooling: "\"include_prompt\": false")
    let prompts = "{\"prompts\": {\"query\": \"find: \", \"b\": \"c\"}, \"default_prompt_name\": \"b\"}"
    try directory.write(prompts, to: "config_sentence_transformers.json")
    let found = try read().prompts
    #expect(found.defaultName == "b" && !found.isPooled)
    func text(_ name: String?, _ prompt: String? = nil) throws -> String {
      String(decoding: try found.text(named: name, otherwise: prompt), as: UTF8.self)
    }
    #expect(try text(nil) == "c" && text("query") == "find: " && text("document") == "")
    #expect(try text("query", "") == "" && text(nil, "x") == "x")
    let error = failure { _ = try text("other") }
    #expect(
      error?.argument == "prompt_name" && error?.message.contains("\"query\", \"b\", \"document\"") == true)
  }

  @Test func codeOfItsOwnIsRefused() throws {
    try directory.write("[{\"path\": \"\", \"type\": \"custom_st.Transformer\"}]", to: "modules.json")
    #expect(
      try refusal().message.contains("module \"custom_st.Transformer\" is not one of sentence_transformers"))
    try? directory.remove("modules.json")
    var checkpoint = TinyCheckpoint(task: .embed)
    checkpoint.config["auto_map"] = .object(
      .init(members: [.init(key: "AutoModel", value: .string("modeling_own.OwnModel"))]))
    try checkpoint.write(to: directory)
    let error = try refusal()
    #expect(error.status == .unsupported && error.message.contains("\"auto_map\" is"), "\(error)")
  }

  /// Vectors of one model with these files.
  private func embed(_ texts: [String], _ options: EmbedOptions = EmbedOptions()) throws -> [[Float]] {
    var settings = ContextOptions()
    settings.precision = .f32
    let context = try Context(modelDirectory: directory.path, options: settings)
    return try texts.map { try context.embed($0, options: options) }
  }

  private static let texts = [
    "the fox", "the foxes jump. the", String(repeating: "the fox jump . ", count: 6),
  ]

  /// Each mode's part is the vector of that mode alone, also of texts of several windows.
  @Test func severalPoolings() throws {
    let names = TokenPooling.Mode.allCases.map(\.rawValue)
    var parts: [[Float]] = Self.texts.map { _ in [] }
    for name in names {
      try write(modules: ["Transformer", "Pooling"], pooling: "\"pooling_mode\": \"\(name)\"")
      for (index, vector) in try embed(Self.texts).enumerated() {
        let earlier = stride(from: 0, to: parts[index].count, by: 8).map { Array(parts[index][$0..<$0 + 8]) }
        #expect(vector.count == 8 && !earlier.contains(vector))
        parts[index] += vector
      }
    }
    try directory.write("{\"truncation_side\": \"left\"}", to: "tokenizer_config.json")
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    try write(modules: ["Transformer", "Pooling"], pooling: "\"pooling_mode\": [\(list)]")
    #expect(try embed(Self.texts) == parts)
    var options = EmbedOptions()
    options.pooling = .mean
    #expect(failure { _ = try embed(Self.texts, options) }?.status == .unsupported)
    // The int8 form keeps them.
    let other = try TemporaryDirectory()
    try Quantizer.quantize(ModelDirectory(path: directory.path), to: other.file("int8"))
    let again = try LoadedModel(ModelDirectory(path: other.file("int8")))
    #expect(try again.embedding == read() && again.embedding?.truncatesStart == true)
  }

  /// A linear layer behind the pooling, in a file of its own or, in the int8 form, in the model's.
  @Test func denseModules() throws {
    try write(modules: ["Transformer", "Pooling"], pooling: "\"pooling_mode\": \"cls\"")
    let plain = try embed(Self.texts)
    try write(modules: ["Transformer", "Pooling", "Dense"], pooling: "\"pooling_mode\": \"cls\"")
    try directory.makeDirectory("2_Dense")
    let weights = (0..<24).map { Float($0 % 5) - 2 }
    let bias: [Float] = [1, -1, 0.5]
    let residual = (0..<24).map { Float($0 % 7) / 4 - 1 }
    func tensor(_ values: [Float], _ shape: [Int]) -> TinyCheckpoint.Tensor {
      .init(type: "F32", shape: shape, bytes: values.withUnsafeBytes(Array.init))
    }
    try directory.write(
      TinyCheckpoint.safetensors([
        "linear.weight": tensor(weights, [3, 8]), "linear.bias": tensor(bias, [3]),
        "residual.weight": tensor(residual, [3, 8]),
      ]),
      to: "2_Dense/model.safetensors")
    for (name, addsInput, function) in [
      ("\"torch.nn.modules.activation.Tanh\"", false, { Float(tanh(Double($0))) }),
      ("\"torch.nn.modules.activation.Tanh\"", true, { Float(tanh(Double($0))) }),
      ("\"torch.nn.modules.linear.Identity\"", true, { $0 }),
      ("\"torch.nn.modules.linear.Identity\"", false, { $0 }), ("null", false, { Float(tanh(Double($0))) }),
    ] as [(String, Bool, (Float) -> Float)] {
      try directory.write(
        "{\"in_features\": 8, \"out_features\": 3, \"bias\": true, \"activation_function\": \(name), "
          + "\"use_residual\": \(addsInput)}",
        to: "2_Dense/config.json")
      for (vector, source) in pairs(try embed(Array(Self.texts.prefix(2))), plain.prefix(2)) {
        for row in 0..<3 {
          let sum = (0..<8).reduce(bias[row]) { $0 + weights[row * 8 + $1] * source[$1] }
          let added = addsInput ? (0..<8).reduce(0) { $0 + residual[row * 8 + $1] * source[$1] } : 0
          #expect(abs(vector[row] - function(sum) - added) < 1e-4)
        }
      }
      let other = try TemporaryDirectory()
      try Quantizer.quantize(ModelDirectory(path: directory.path), to: other.file("int8"))
      let again = try LoadedModel(ModelDirectory(path: other.file("int8")))
      let embedding = try read()
      #expect(again.embedding == embedding)
      #expect(again.head.linears[0].weight.floats == weights)
      #expect(again.head.layers[0].residual?.weight.floats == (addsInput ? residual : nil))
      #expect(try Context(modelDirectory: other.file("int8")).info.embeddingLength == 3)
    }
    for (member, message) in [
      ("\"activation_function\": \"own.Tanh\"", "\"activation_function\" is \"own.Tanh\""),
      ("\"activation_function\": \"torch.nn.modules.activation.Softplus\"", "Softplus"),
      ("\"module_input_name\": \"token_embeddings\"", "\"module_input_name\""),
      ("\"bias\": false", nil),
    ] as [(String, String?)] {
      try directory.write("{\"out_features\": 3, \(member)}", to: "2_Dense/config.json")
      let error = failure { _ = try read() }
      #expect(
        message.map { error?.message.contains($0) == true } ?? (error == nil), "\(String(describing: error))")
    }
    try directory.remove("2_Dense/model.safetensors")
    #expect(try refusal().message.contains("2_Dense/model.safetensors: no such file"))
  }

  /// Early sentence-transformers wrote the encoder's files into a folder.
  @Test func encodersInAFolder() throws {
    let own = "0_Transformer"
    try directory.makeDirectory(own)
    for name in try directory.names where name != own {
      try directory.write(directory.bytes(name), to: "\(own)/\(name)")
      try directory.remove(name)
    }
    try directory.write("{\"max_seq_length\": 11}", to: "\(own)/sentence_bert_config.json")
    try directory.makeDirectory("1_Pooling")
    try directory.write("{\"pooling_mode_cls_token\": true}", to: "1_Pooling/config.json")
    let modules = [own: "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"].sorted {
      $0.key < $1.key
    }
    try directory.write(
      "[\(modules.map { "{\"path\": \"\($0)\", \"type\": \"sentence_transformers.models.\($1)\"}" }.joined(separator: ", "))]",
      to: "modules.json")
    let found = try read()
    #expect(found.pooling == .first && found.normalizes && found.maxSequenceLength == 11)
    let context = try Context(modelDirectory: directory.path)
    #expect(context.info.task == .embed)
    var options = ContextOptions()
    options.tokenizerOnly = true
    #expect(try Context(modelDirectory: directory.path, options: options).info.vocabularySize == 10)
    try directory.remove("\(own)/vocab.txt")
    let error = try #require(failure { _ = try Context(modelDirectory: directory.path) })
    #expect(error.status == .io && error.message.contains("has neither vocab.txt"), "\(error)")
  }

  /// A path may be spelled with dots, and a vector of length 1 be scaled again.
  @Test func modulesInOtherWords() throws {
    try write(modules: ["Transformer", "Pooling"], pooling: "\"pooling_mode\": \"cls\"")
    let modules = [
      (".", "Transformer"), ("./1_Pooling/", "Pooling"), ("2_Normalize", "Normalize"), ("", "Normalize"),
    ]
    try directory.write(
      "[\(modules.map { "{\"path\": \"\($0)\", \"type\": \"\($1)\"}" }.joined(separator: ", "))]",
      to: "modules.json")
    let found = try read()
    #expect(found.pooling == .first && found.normalizes)
  }

  @Test func otherContradictions() throws {
    try write(modules: ["Transformer", "Pooling"], pooling: "\"word_embedding_dimension\": 9")
    #expect(try refusal().status == .invalidModel)
    try write(modules: ["Transformer", "Pooling", "Normalize"], pooling: "")
    try directory.makeDirectory("2_Normalize")
    try directory.write("{\"module_input_name\": \"token_embeddings\"}", to: "2_Normalize/config.json")
    #expect(try refusal().status == .unsupported)
    try directory.write("{\"module_input_name\": \"sentence_embedding\"}", to: "2_Normalize/config.json")
    #expect(try read().normalizes)
    #expect(try !read().lowercases)
    try directory.write("{\"do_lower_case\": false}", to: "tokenizer_config.json")
    try directory.write("{\"do_lower_case\": true}", to: "sentence_bert_config.json")
    #expect(try read().lowercases)
  }
}
