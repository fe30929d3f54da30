import Testing

@testable import BertQACore

struct ModelConfigurationTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func read(_ text: String) throws -> ModelConfiguration {
    let reader = try ObjectReader(ModelFile(path: directory.write(text, to: "config.json")))
    return try ModelConfiguration(reader, Architecture(reader))
  }

  private func readBert(_ members: String) throws -> ModelConfiguration {
    try read("{\"architectures\": [\"BertForQuestionAnswering\"]\(members)}")
  }

  private func readDistilBert(_ members: String) throws -> ModelConfiguration {
    try read("{\"architectures\": [\"DistilBertForQuestionAnswering\"]\(members)}")
  }

  @Test func readsBert() throws {
    let configuration = try readBert(
      """
      , "vocab_size": 100, "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
      "intermediate_size": 96, "hidden_act": "gelu_python", "max_position_embeddings": 64,
      "type_vocab_size": 1, "layer_norm_eps": 1e-5, "position_embedding_type": "absolute",
      "is_decoder": false, "add_cross_attention": false, "pruned_heads": {}, "id2label": null,
      "bertqa": {"no_answer_threshold": 5.7}
      """)
    let expected = ModelConfiguration(
      architecture: .encoder(.bert, .spans), vocabSize: 100, hiddenSize: 48, layerCount: 3,
      headCount: 4, intermediateSize: 96, maxPositions: 64, typeVocabSize: 1, layerNormEps: 1e-5,
      noAnswerThreshold: 5.7)
    #expect(configuration == expected)
  }

  @Test func readsWhatGapsAreWorth() throws {
    let configuration = try readBert(
      """
      , "bertqa": {"no_answer_threshold": -0.5, "threshold_rise": 0.25,
        "calibration": {"slope": 0.5, "midpoint": -1, "span_temperature": 0.75}}
      """)
    #expect(configuration.noAnswerThreshold == -0.5 && configuration.thresholdRise == 0.25)
    #expect(
      configuration.answerCalibration
        == AnswerCalibration(slope: 0.5, midpoint: -1, spanTemperature: 0.75))
    let old = try readBert(", \"bertqa\": {\"calibration\": null}")
    #expect(old.thresholdRise == 0 && old.answerCalibration == nil)
  }

  @Test func readsDistilBert() throws {
    let configuration = try readDistilBert(
      """
      , "vocab_size": 100, "dim": 48, "n_layers": 3, "n_heads": 4, "hidden_dim": 96,
      "activation": "gelu", "max_position_embeddings": 64, "sinusoidal_pos_embds": true,
      "layer_norm_eps": 0.5
      """)
    let expected = ModelConfiguration(
      architecture: .encoder(.distilBert, .spans), family: .distilBert, vocabSize: 100, hiddenSize: 48,
      layerCount: 3, headCount: 4, intermediateSize: 96, maxPositions: 64,
      typeVocabSize: 0, layerNormEps: 1e-12)
    #expect(configuration == expected)
  }

  @Test func defaultsAreThoseOfHuggingFace() throws {
    let bert = ModelConfiguration(
      vocabSize: 30522, hiddenSize: 768, layerCount: 12, headCount: 12, intermediateSize: 3072,
      maxPositions: 512, typeVocabSize: 2, layerNormEps: 1e-12)
    #expect(try readBert("") == bert)
    let distilBert = try readDistilBert("")
    #expect(distilBert.layerCount == 6)
    #expect(distilBert.hiddenSize == 768)
    #expect(
      try read("{\"architectures\": [\"Other\", \"BertForQuestionAnswering\"]}") == bert)
  }

  private func readModel(_ architecture: String, _ members: String = "") throws -> ModelConfiguration {
    try read("{\"architectures\": [\"\(architecture)\"]\(members.isEmpty ? "" : ", \(members)")}")
  }

  /// The values that `transformers` 5.23 prints for `RobertaConfig()` and the others.
  @Test func defaultsOfOtherFamilies() throws {
    func summary(_ name: String) throws -> [Int] {
      let c = try readModel(name)
      return [
        c.vocabSize, c.hiddenSize, c.embeddingSize, c.layerCount, c.headCount, c.intermediateSize,
        c.maxPositions, c.typeVocabSize,
      ]
    }
    #expect(try summary("RobertaModel") == [50265, 768, 768, 12, 12, 3072, 510, 2])
    for name in ["XLMRobertaModel", "CamembertModel"] {
      #expect(try summary(name) == [30522, 768, 768, 12, 12, 3072, 510, 2])
    }
    #expect(try summary("ElectraModel") == [30522, 256, 128, 12, 4, 1024, 512, 2])
    #expect(try summary("AlbertModel") == [30000, 4096, 128, 12, 64, 16384, 512, 2])
    #expect(try summary("ModernBertModel") == [50368, 768, 768, 22, 12, 1152, 8192, 0])
    #expect(try readModel("AlbertModel").activation == .geluTanh)
    #expect(try readModel("ElectraModel").activation == .gelu)
    #expect(try readModel("ElectraModel", "\"embedding_size\": 256").projectedEmbeddingSize == nil)
    #expect(try readModel("AlbertModel", "\"embedding_size\": 4096").projectedEmbeddingSize == 4096)
  }

  /// The same model in the words of transformers 5 and of 4.48.
  @Test func alternatingAttention() throws {
    let expected = AlternatingAttention(
      isLocal: [false, true, true, false, true], reach: 8, globalTheta: 5000, localTheta: 300)
    let older = """
      "num_hidden_layers": 5, "local_attention": 16, "global_attn_every_n_layers": 3,
      "global_rope_theta": 5000.0, "local_rope_theta": 300
      """
    let newer = """
      "num_hidden_layers": 5, "local_attention": 17, "layer_types":
      ["full_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
      "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 5000.0},
      "sliding_attention": {"rope_type": "default", "rope_theta": 300.0}}
      """
    for text in [older, newer] {
      #expect(try readModel("ModernBertForQuestionAnswering", text).alternating == expected)
    }
    let usual = try #require(try readModel("ModernBertModel", "\"local_rope_theta\": 10000.0").alternating)
    #expect(usual.reach == 64 && usual.globalTheta == 160_000 && usual.localTheta == 10_000)
    #expect(usual.isLocal.enumerated().allSatisfy { $1 == ($0 % 3 != 0) } && usual.isLocal.count == 22)
    #expect(try readModel("ModernBertModel", "\"local_rope_theta\": null").alternating?.localTheta == 160_000)
    #expect(try readModel("BertModel").alternating == nil)
  }

  /// The keys of the checkpoints' own code, and those of transformers.
  @Test func rotaryPositionsOfNomicAndGTE() throws {
    let nomic = try readModel(
      "NomicBertModel",
      """
      "auto_map": {"AutoModel": "modeling.NomicBertModel"}, "n_embd": 24, "n_layer": 3, "n_head": 4, "n_inner": 40,
      "n_positions": 8192, "layer_norm_epsilon": 1e-5, "activation_function": "swiglu", "rotary_emb_base": 500,
      "rotary_emb_fraction": 1.0, "rotary_scaling_factor": null, "mlp_fc2_bias": true
      """)
    #expect(nomic.hiddenSize == 24 && nomic.layerCount == 3 && nomic.headCount == 4)
    #expect(nomic.intermediateSize == 40 && nomic.maxPositions == 8192 && nomic.layerNormEps == 1e-5)
    #expect(nomic.activation == .silu && nomic.rotary == RotaryPositions(theta: 500))
    #expect(nomic.biases == .init(attention: false, intermediate: false, output: true))
    let native = try readModel(
      "NomicBertModel",
      """
      "hidden_size": 24, "num_attention_heads": 4, "hidden_act": "silu", "layer_norm_eps": 1e-6,
      "rope_parameters": {"rope_type": "default", "rope_theta": 700.0}
      """)
    #expect(native.hiddenSize == 24 && native.activation == .silu && native.layerNormEps == 1e-6)
    #expect(native.rotary == RotaryPositions(theta: 700))
    #expect(try readModel("NomicBertModel").rotary == RotaryPositions(theta: 1000))
    let gte = try readModel(
      "NewModel",
      """
      "type_vocab_size": 0, "rope_theta": 20000, "rope_scaling": {"type": "ntk", "factor": 8.0},
      "position_embedding_type": "rope", "auto_map": {}
      """)
    #expect(gte.rotary == RotaryPositions(theta: 160_000, factor: 8) && gte.typeVocabSize == 0)
    #expect(gte.biases == .init(intermediate: false))
    #expect(gte.rotary?.divisor(headSize: 64) == Float(1.0671405))
  }

  @Test(arguments: [
    ("NomicBertModel", "\"prenorm\": true", "\"prenorm\" is true; only false is supported"),
    ("NomicBertModel", "\"rotary_emb_fraction\": 0.5", "\"rotary_emb_fraction\" is 0.5; only 1 is supported"),
    (
      "NomicBertModel", "\"rotary_scaling_factor\": 2",
      "\"rotary_scaling_factor\" is 2; only null is supported"
    ),
    ("NewModel", "\"pack_qkv\": false", "\"pack_qkv\" is false; only true is supported"),
    (
      "NewModel", "\"rope_scaling\": {\"type\": \"yarn\"}",
      "\"type\" is \"yarn\"; only \"default\" is supported"
    ),
    (
      "NewModel", "\"position_embedding_type\": \"absolute\"",
      "\"position_embedding_type\" is \"absolute\"; only \"rope\" is supported"
    ),
    ("BertModel", "\"auto_map\": {}", "has code of its own"),
  ])
  func otherArithmeticOfAFamilyIsRefused(architecture: String, text: String, message: String) throws {
    let error = failure { _ = try readModel(architecture, text) }
    #expect(error?.status == .unsupported)
    #expect(error?.message.contains(message) == true)
  }

  @Test func modulesOfModernBert() throws {
    let usual = try readModel("ModernBertModel", "\"norm_eps\": 1e-5")
    #expect(
      usual.biases
        == .init(
          attention: false, intermediate: false, output: false, norm: false, pooler: false))
    #expect(usual.classifierPooling == .first && usual.layerNormEps == 1e-5)
    let all = try readModel(
      "ModernBertForSequenceClassification",
      """
      "attention_bias": true, "mlp_bias": true, "norm_bias": true, "classifier_bias": true,
      "classifier_pooling": "mean", "classifier_activation": "silu", "hidden_activation": "gelu_new"
      """)
    #expect(all.biases == .init())
    #expect(all.classifierPooling == .mean && all.poolerActivation == .silu)
    #expect(all.activation == .geluTanh)
    #expect(try readModel("BertModel", "\"classifier_pooling\": \"mean\"").classifierPooling == .first)
    #expect(try readModel("ModernBertModel", "\"max_position_embeddings\": 1000000").maxPositions == 65536)
  }

  @Test(arguments: [
    ("\"layer_types\": [\"full_attention\"]", "\"layer_types\" is an array"),
    ("\"num_hidden_layers\": 1, \"layer_types\": [\"mamba\"]", "\"layer_types\" has \"mamba\""),
    ("\"local_attention\": 1", "\"local_attention\" is 1, expected an integer in 2"),
    ("\"global_attn_every_n_layers\": 0", "\"global_attn_every_n_layers\" is 0"),
    ("\"global_rope_theta\": 0.5", "\"global_rope_theta\" is 0.5, expected 1 to 1e12"),
    ("\"rope_parameters\": {\"full_attention\": {\"rope_type\": \"yarn\"}}", "\"rope_type\" is \"yarn\""),
    ("\"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}", "\"type\" is \"linear\""),
    ("\"classifier_pooling\": \"max\"", "\"classifier_pooling\" is \"max\"; only \"cls\" or \"mean\""),
    ("\"num_attention_heads\": 256", "rotary positions need an even head size"),
  ])
  func refusesOtherModernBerts(members: String, message: String) throws {
    let error = failure { _ = try readModel("ModernBertModel", members) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "no error")")
  }

  @Test func readsBottlenecks() throws {
    let usual = try readModel("MobileBertModel")
    #expect(usual.hiddenSize == 512 && usual.embeddingSize == 128 && usual.positionSize == 512)
    #expect(usual.layerWidth == 128 && usual.headSize == 32 && usual.activation == .relu)
    #expect(
      usual.narrow
        == NarrowSettings(width: 128, hasAttentionInput: true, feedForwardCount: 3, hasNorms: false))
    #expect(usual.normEps == nil && usual.outputNormEps == nil && usual.hasPooler)
    // By the numbers of transformers' modules, whose size "true_hidden_size" only repeats.
    let other = try readModel(
      "MobileBertModel",
      """
      "normalization_type": "layer_norm", "layer_norm_eps": 1e-6, "intra_bottleneck_size": 64, "embedding_size": 32,
      "use_bottleneck_attention": true, "key_query_shared_bottleneck": false, "num_feedforward_networks": 1,
      "true_hidden_size": 512, "classifier_activation": false
      """)
    #expect(other.narrow == NarrowSettings(width: 64))
    #expect(other.normEps == 1e-6 && other.outputNormEps == 1e-5 && !other.hasPooler)
    let none = try readModel(
      "MobileBertModel", "\"use_bottleneck\": false, \"key_query_shared_bottleneck\": false")
    #expect(none.narrow.width == nil && none.layerWidth == 512 && none.narrow.feedForwardCount == 3)
  }

  @Test(arguments: [
    ("\"key_query_shared_bottleneck\": false", "\"key_query_shared_bottleneck\" is false"),
    ("\"normalization_type\": \"rms_norm\"", "\"normalization_type\" is \"rms_norm\""),
    ("\"trigram_input\": false", "\"trigram_input\" is false; only true"),
    ("\"num_feedforward_networks\": 0", "\"num_feedforward_networks\" is 0, expected an integer in 1"),
    ("\"intra_bottleneck_size\": 6", "\"intra_bottleneck_size\" 6 is not divisible by 4 attention heads"),
    ("\"intra_bottleneck_size\": \"wide\"", "\"intra_bottleneck_size\" is"),
  ])
  func refusesOtherMobileBerts(members: String, message: String) throws {
    let error = failure { _ = try readModel("MobileBertModel", members) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "no error")")
  }

  @Test func readsTaskAdapters() throws {
    let rotary = "\"position_embedding_type\": \"rotary\""
    #expect(try readModel("XLMRobertaModel", rotary).adapters == nil)
    let names = "\(rotary), \"lora_adaptations\": [\"a\", \"b\"]"
    let usual = try readModel("XLMRobertaModel", names)
    #expect(usual.family == .jinaV3 && usual.rotary?.theta == 10_000)
    #expect(
      usual.adapters?.tasks == ["a", "b"] && usual.adapters?.rank == 4 && usual.adapters?.scale == 0.25)
    let other = try readModel("XLMRobertaModel", "\(names), \"lora_rank\": 2, \"lora_alpha\": 3")
    #expect(other.adapters?.rank == 2 && other.adapters?.scale == 1.5)
    for bad in ["[]", "[\"a\", \"a\"]", "[1]", "\"a\"", "{}"] {
      let error = failure { _ = try readModel("XLMRobertaModel", "\(rotary), \"lora_adaptations\": \(bad)") }
      #expect(error?.message.contains("expected a list of up to 64 different names") == true)
    }
  }

  @Test func readsAttentionWindows() throws {
    let usual = try readModel("LongformerForQuestionAnswering", "\"max_position_embeddings\": 4098")
    #expect(
      usual.local == LocalAttention(reaches: [Int](repeating: 256, count: 12), globalTokens: .before(2)))
    #expect(usual.maxPositions == 4096 && usual.hasGlobalTokens)
    let other = try readModel(
      "LongformerForSequenceClassification", "\"attention_window\": [64, 2], \"num_hidden_layers\": 2")
    #expect(other.local == LocalAttention(reaches: [32, 1], globalTokens: .first))
    for name in ["Model", "ForMaskedLM", "ForTokenClassification"] {
      let none = try readModel("Longformer\(name)", "\"attention_window\": 8, \"num_hidden_layers\": 1")
      #expect(none.local == LocalAttention(reaches: [4], globalTokens: .none) && !none.hasGlobalTokens)
    }
    let separator = try readModel("LongformerForQuestionAnswering", "\"sep_token_id\": 7")
    #expect(separator.local?.globalTokens == .before(7))
  }

  @Test(arguments: [
    "7", "0", "-2", "2.5", "\"512\"", "[512, 512]", "[]", "[9223372036854775807]", "2097152", "true",
  ])
  func refusesOtherAttentionWindows(window: String) throws {
    let error = failure { _ = try readModel("LongformerModel", "\"attention_window\": \(window)") }
    #expect(error?.message.contains("\"attention_window\" is ") == true, "\(error?.message ?? "no error")")
    #expect(error?.message.hasSuffix("expected an even number above 0, or a list of 12 of them") == true)
  }

  @Test func positionsAfterPadding() throws {
    let usual = try readModel("RobertaModel", "\"max_position_embeddings\": 514")
    #expect(usual.maxPositions == 512 && usual.paddingID == 1)
    #expect(usual.firstPositionRow == 2 && usual.positionRows == 514)
    let other = try readModel("RobertaModel", "\"max_position_embeddings\": 100, \"pad_token_id\": 5")
    #expect(other.maxPositions == 94 && other.firstPositionRow == 6 && other.positionRows == 100)
    #expect(try readModel("BertModel", "\"pad_token_id\": 5").maxPositions == 512)
    let error = failure { _ = try readModel("RobertaModel", "\"pad_token_id\": 510") }
    #expect(error?.status == .invalidModel)
    #expect(error?.message.contains("leaves fewer than 3 positions after \"pad_token_id\" 510") == true)
    #expect(failure { _ = try readModel("RobertaModel", "\"pad_token_id\": -1") }?.status == .invalidModel)
  }

  /// Group of layer i: `int(i / (num_hidden_layers / num_hidden_groups))`, in Python.
  @Test func layersOfGroups() throws {
    func groups(_ layers: Int, _ groups: Int, _ size: Int) throws -> [String] {
      try readModel(
        "AlbertModel",
        "\"num_hidden_layers\": \(layers), \"num_hidden_groups\": \(groups), \"inner_group_num\": \(size)"
      ).layerBases.map {
        $0.replacing("albert.encoder.albert_layer_groups.", with: "").replacing(".albert_layers.", with: "/")
      }
    }
    #expect(try groups(3, 1, 1) == ["0/0.", "0/0.", "0/0."])
    #expect(try groups(5, 2, 1) == ["0/0.", "0/0.", "0/0.", "1/0.", "1/0."])
    #expect(try groups(2, 2, 2) == ["0/0.", "0/1.", "1/0.", "1/1."])
    #expect(try groups(2, 4, 1) == ["0/0.", "2/0."])
    #expect(failure { _ = try groups(1000, 1, 2) }?.status == .invalidModel)
    #expect(failure { _ = try groups(2, 1, 0) }?.status == .invalidModel)
  }

  @Test(arguments: [
    ("gelu_python", Activation.gelu), ("gelu_new", .geluTanh), ("gelu_fast", .geluTanh),
    ("gelu_pytorch_tanh", .geluTanh), ("relu", .relu), ("silu", .silu), ("swish", .silu), ("tanh", .tanh),
  ])
  func readsActivations(name: String, activation: Activation) throws {
    #expect(try readBert(", \"hidden_act\": \"\(name)\"").activation == activation)
    #expect(try readDistilBert(", \"activation\": \"\(name)\"").activation == activation)
  }

  @Test(arguments: [
    ("\"hidden_size\": 0", "\"hidden_size\" is 0, expected an integer in 1...65536"),
    ("\"hidden_size\": 768.5", "\"hidden_size\" is 768.5, expected an integer"),
    ("\"hidden_size\": \"768\"", "\"hidden_size\" is \"768\", expected an integer"),
    ("\"hidden_size\": 1e99", "\"hidden_size\" is 1e+99"),
    ("\"hidden_size\": 65537", "\"hidden_size\" is 65537"),
    ("\"num_attention_heads\": 7", "hidden size 768 is not divisible by 7 attention heads"),
    ("\"num_attention_heads\": -12", "\"num_attention_heads\" is -12"),
    ("\"num_hidden_layers\": 1000000000", "\"num_hidden_layers\" is 1000000000"),
    ("\"intermediate_size\": []", "\"intermediate_size\" is an array"),
    ("\"vocab_size\": 9223372036854775807", "\"vocab_size\" is 9223372036854775807"),
    ("\"max_position_embeddings\": 2", "\"max_position_embeddings\" is 2"),
    ("\"type_vocab_size\": 0", "\"type_vocab_size\" is 0"),
    ("\"layer_norm_eps\": 0", "\"layer_norm_eps\" is 0.0, expected within (0, 1)"),
    ("\"layer_norm_eps\": 1e-300", "\"layer_norm_eps\" is 1e-300"),
    ("\"layer_norm_eps\": \"x\"", "\"layer_norm_eps\" is \"x\", expected a number"),
    ("\"hidden_act\": 1", "\"hidden_act\" is 1, expected a string"),
    ("\"bertqa\": 1", "\"bertqa\" is 1, expected an object"),
    ("\"bertqa\": {\"no_answer_threshold\": 1e300}", "\"no_answer_threshold\" is out of range"),
    ("\"bertqa\": {\"threshold_rise\": -0.1}", "\"threshold_rise\" is -0.1, expected 0.0 to"),
    ("\"bertqa\": {\"threshold_rise\": \"x\"}", "\"threshold_rise\" is \"x\", expected a number"),
    ("\"bertqa\": {\"calibration\": 1}", "\"calibration\" is 1, expected an object"),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 1, \"midpoint\": 0}}",
      "\"calibration\" has no \"span_temperature\""
    ),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 0, \"midpoint\": 0, \"span_temperature\": 1}}",
      "\"slope\" is 0"
    ),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 1, \"midpoint\": 1e300, \"span_temperature\": 1}}",
      "\"midpoint\" is 1e+300"
    ),
    (
      "\"bertqa\": {\"calibration\": {\"slope\": 1, \"midpoint\": 0, \"span_temperature\": -1}}",
      "\"span_temperature\" is -1"
    ),
  ])
  func refusesInvalid(member: String, message: String) throws {
    let error = try #require(failure { _ = try readBert(", \(member)") })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("\(directory.file("config.json")): \(message)"), "\(error)")
  }

  @Test(arguments: [
    ("\"hidden_act\": \"mish\"", "\"hidden_act\" is \"mish\"; supported: \"gelu\", \"gelu_accurate\", "),
    ("\"position_embedding_type\": \"relative_key\"", "\"position_embedding_type\" is \"relative_key\""),
    ("\"is_decoder\": true", "\"is_decoder\" is true; only false is supported"),
    ("\"is_decoder\": 1", "\"is_decoder\" is 1; only false is supported"),
    ("\"add_cross_attention\": true", "\"add_cross_attention\" is true"),
    ("\"is_causal\": true", "\"is_causal\" is true"),
    ("\"pruned_heads\": {\"0\": [1]}", "\"pruned_heads\" is an object"),
    ("\"quantization_config\": {}", "\"quantization_config\" is an object"),
  ])
  func refusesUnsupported(member: String, message: String) throws {
    let error = try #require(failure { _ = try readBert(", \(member)") })
    #expect(error.status == .unsupported)
    #expect(error.message.hasPrefix("\(directory.file("config.json")): \(message)"), "\(error)")
  }

  private func readClassifier(_ members: String) throws -> ModelConfiguration {
    try read("{\"architectures\": [\"BertForSequenceClassification\"]\(members)}")
  }

  @Test func readsLabels() throws {
    let named = try readClassifier(
      ", \"id2label\": {\"2\": \"c\", \"0\": \"a\", \"1\": \"b\"}, \"num_labels\": 3")
    #expect(named.labels == ["a", "b", "c"] && named.problemType == .singleLabel)
    let standard = try readClassifier("")
    #expect(standard.labels == ["LABEL_0", "LABEL_1"] && standard.problemType == .singleLabel)
    let number = try readClassifier(", \"num_labels\": 1, \"id2label\": null")
    #expect(number.labels == ["LABEL_0"] && number.problemType == .regression)
    for (name, problemType) in [
      ("single_label_classification", ProblemType.singleLabel),
      ("multi_label_classification", .multiLabel), ("regression", .regression),
    ] {
      #expect(try readClassifier(", \"problem_type\": \"\(name)\"").problemType == problemType)
    }
    // transformers takes these.
    for (members, labels) in [
      ("\"id2label\": {\"0\": 7, \"1\": \"\"}", ["7", "LABEL_1"]),
      ("\"id2label\": {\"0\": \"a\"}, \"num_labels\": 2", ["LABEL_0", "LABEL_1"]),
      ("\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"num_labels\": 1", ["LABEL_0"]),
      ("\"id2label\": {\"0\": \"a\", \"1\": \"b\"}, \"problem_type\": \"guess\"", ["a", "b"]),
    ] {
      let loose = try readClassifier(", \(members)")
      #expect(loose.labels == labels && loose.problemType == (labels.count == 1 ? .regression : .singleLabel))
    }
    // Models for other tasks have them too, to no effect.
    #expect(try readBert(", \"id2label\": 7, \"problem_type\": \"x\"").labels.isEmpty)
  }

  @Test(arguments: [
    ("\"id2label\": []", "\"id2label\" is an array, expected an object"),
    ("\"id2label\": {}", "\"id2label\" has 0 labels, expected 1 to 65536"),
    ("\"id2label\": {\"1\": \"a\"}", "\"id2label\" has the id \"1\", expected each of 0 to 0 once"),
    ("\"id2label\": {\"x\": \"a\"}", "\"id2label\" has the id \"x\""),
    ("\"id2label\": {\"-1\": \"a\"}", "\"id2label\" has the id \"-1\""),
    ("\"id2label\": {\"0\": \"a\", \"00\": \"b\"}", "\"id2label\" has the id \"00\""),
    ("\"id2label\": {\"0\": 0.5}", "\"0\" is 0.5, expected a label's name"),
    ("\"id2label\": {\"0\": \"a\\u0000\"}", "\"0\" is \"a"),
    ("\"num_labels\": 0", "\"num_labels\" is 0, expected an integer in 1...65536"),
    ("\"num_labels\": 1e9", "\"num_labels\" is 1000000000.0"),
    ("\"problem_type\": 1", "\"problem_type\" is 1, expected a string"),
  ])
  func refusesInvalidLabels(members: String, message: String) throws {
    let error = try #require(failure { _ = try readClassifier(", \(members)") })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("\(directory.file("config.json")): \(message)"), "\(error)")
  }

  @Test func everyFamilyHasEveryHead() throws {
    let names = Architecture.all.map(\.name)
    #expect(Set(names).count == names.count)
    for family in EncoderFamily.all {
      for (prefix, head) in family.classPrefixes.flatMap({ p in HeadKind.allCases.map { (p, $0) } }) {
        let configuration = try read("{\"architectures\": [\"\(prefix)\(head.classSuffix)\"]}")
        #expect(configuration.family == family && configuration.head == head)
      }
    }
  }

  /// Their heads are left out.
  @Test func classesForPretrainingGiveVectors() throws {
    for family in EncoderFamily.all {
      for prefix in family.classPrefixes {
        for suffix in ["ForMaskedLM", "ForPreTraining", "LMHeadModel"] {
          let configuration = try read("{\"architectures\": [\"\(prefix)\(suffix)\"]}")
          #expect(configuration.family == family && configuration.head == .vectors)
          #expect(configuration.architecture.name == prefix + suffix)
        }
      }
    }
    #expect(
      try read("{\"architectures\": [\"BertForMaskedLM\"], \"is_decoder\": true}", orStatus: .unsupported)
        == nil)
  }

  /// nil if reading fails with this status.
  private func read(_ text: String, orStatus status: Status) throws -> ModelConfiguration? {
    do {
      return try read(text)
    } catch let error as BertQAError where error.status == status {
      return nil
    }
  }

  @Test(arguments: [
    ("{}", "no \"architectures\""), ("{\"architectures\": null}", "no \"architectures\""),
    ("{\"architectures\": [1]}", "no \"architectures\""),
    ("{\"architectures\": [\"GPT2LMHeadModel\"]}", "architecture \"GPT2LMHeadModel\""),
  ])
  func namesTheSupportedArchitectures(text: String, found: String) throws {
    let supported = Architecture.summary
    #expect(supported.hasPrefix("{Bert,DistilBert"))
    #expect(supported.contains("}{ForQuestionAnswering,"))
    #expect(
      supported.hasSuffix(
        "}, HF_ColBERT, WordCountClassifier, EmbeddingClassifier, LSTMLanguageModel, GRULanguageModel, StaticModel, StaticEmbedding"
      ))
    #expect(
      failure { _ = try read(text) }
        == BertQAError(
          .unsupported, "\(directory.file("config.json")): \(found); supported: \(supported)"))
  }
}
