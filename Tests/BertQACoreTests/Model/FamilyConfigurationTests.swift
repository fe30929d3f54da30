import Testing

@testable import BertQACore

/// What only some families' configurations have: rotary positions, bottlenecks, adapters, windows, groups.
struct FamilyConfigurationTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func readModel(_ architecture: String, _ members: String = "") throws -> ModelConfiguration {
    try directory.configuration(of: architecture, members)
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
    ("DebertaModel", "\"talking_head\": true", "\"talking_head\" is true; only false is supported"),
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
}
