extension EncoderFamily {
  /// The supported families, in the order in which messages name them.
  static let all = [
    bert, distilBert, roberta, xlmRoberta, electra, albert, mpnet, deberta, debertaV2, modernBert, ernie,
    data2VecText,
    nomicBert, gte, new, jinaBert, mobileBert, longformer,
  ]

  /// Devlin et al. 2018, https://arxiv.org/abs/1810.04805; transformers' `modeling_bert.py`.
  static let bert = bertLike("Bert", prefix: "bert.")

  /// Sun et al. 2021, https://arxiv.org/abs/2107.02137; transformers' `modeling_ernie.py`. BERT with a table of tasks.
  static let ernie = bertLike("Ernie", prefix: "ernie.", tasks: "ernie.embeddings.task_type_embeddings")

  private static func bertLike(
    _ classPrefix: String, prefix: String, tasks: String? = nil
  ) -> EncoderFamily {
    EncoderFamily(
      classPrefixes: [classPrefix],
      configuration: ConfigurationKeys(),
      tensors: TensorNames(
        prefix: prefix, wordEmbeddings: "\(prefix)embeddings.word_embeddings",
        positionEmbeddings: "\(prefix)embeddings.position_embeddings",
        tokenTypeEmbeddings: "\(prefix)embeddings.token_type_embeddings", taskEmbeddings: tasks,
        embeddingNorm: "\(prefix)embeddings.LayerNorm", layers: "\(prefix)encoder.layer.",
        layer: .bert,
        maskedWords: MaskedWordNames(
          dense: "cls.predictions.transform.dense", norm: "cls.predictions.transform.LayerNorm",
          bias: "cls.predictions.bias")),
      positions: .table, norm: .layerNormAfter, feedForward: .dense, attention: .window,
      pooler: Pooler(module: "\(prefix)pooler.dense", activation: .tanh, isOptional: true))
  }

  /// Sanh et al. 2019, https://arxiv.org/abs/1910.01108; transformers' `modeling_distilbert.py`. Sinusoidal
  /// position embeddings are stored like learnt ones.
  static let distilBert = EncoderFamily(
    classPrefixes: ["DistilBert"],
    configuration: ConfigurationKeys(
      hiddenSize: "dim", layerCount: "n_layers", headCount: "n_heads", intermediateSize: "hidden_dim",
      activation: "activation", tokenTypeCount: nil, layerNormEps: nil,
      defaults: Defaults(layerCount: 6)),
    tensors: TensorNames(
      prefix: "distilbert.", wordEmbeddings: "distilbert.embeddings.word_embeddings",
      positionEmbeddings: "distilbert.embeddings.position_embeddings", tokenTypeEmbeddings: nil,
      embeddingNorm: "distilbert.embeddings.LayerNorm", layers: "distilbert.transformer.layer.",
      layer: LayerNames(
        query: "attention.q_lin", key: "attention.k_lin", value: "attention.v_lin",
        attentionOutput: "attention.out_lin", attentionNorm: "sa_layer_norm", intermediate: "ffn.lin1",
        output: "ffn.lin2", outputNorm: "output_layer_norm"),
      maskedWords: MaskedWordNames(
        dense: "vocab_transform", norm: "vocab_layer_norm", bias: "vocab_projector.bias")),
    positions: .table, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    pooler: Pooler(module: "pre_classifier", activation: .relu, isOptional: false))

  /// Clark et al. 2020, https://arxiv.org/abs/2003.10555; transformers' `modeling_electra.py`. The discriminator.
  static let electra = EncoderFamily(
    classPrefixes: ["Electra"],
    configuration: ConfigurationKeys(
      defaults: Defaults(hiddenSize: 256, headCount: 4, intermediateSize: 1024)),
    tensors: TensorNames(
      prefix: "electra.", wordEmbeddings: "electra.embeddings.word_embeddings",
      positionEmbeddings: "electra.embeddings.position_embeddings",
      tokenTypeEmbeddings: "electra.embeddings.token_type_embeddings",
      embeddingNorm: "electra.embeddings.LayerNorm", layers: "electra.encoder.layer.", layer: .bert,
      classifier: "classifier.out_proj"),
    positions: .table, embeddings: .projected(by: "electra.embeddings_project", always: false),
    norm: .layerNormAfter, feedForward: .dense, attention: .window,
    pooler: Pooler(module: "classifier.dense", activation: .gelu, isOptional: false))

  /// Lan et al. 2019, https://arxiv.org/abs/1909.11942; transformers' `modeling_albert.py`.
  static let albert = EncoderFamily(
    classPrefixes: ["Albert"],
    configuration: ConfigurationKeys(
      defaults: Defaults(
        vocabSize: 30000, hiddenSize: 4096, headCount: 64, intermediateSize: 16384, activation: "gelu_new")),
    tensors: TensorNames(
      prefix: "albert.", wordEmbeddings: "albert.embeddings.word_embeddings",
      positionEmbeddings: "albert.embeddings.position_embeddings",
      tokenTypeEmbeddings: "albert.embeddings.token_type_embeddings",
      embeddingNorm: "albert.embeddings.LayerNorm", layers: "albert.encoder.albert_layer_groups.",
      layer: LayerNames(
        query: "attention.query", key: "attention.key", value: "attention.value",
        attentionOutput: "attention.dense", attentionNorm: "attention.LayerNorm", intermediate: "ffn",
        output: "ffn_output", outputNorm: "full_layer_layer_norm")),
    positions: .table,
    embeddings: .projected(by: "albert.encoder.embedding_hidden_mapping_in", always: true),
    norm: .layerNormAfter, feedForward: .dense, attention: .window,
    layerSharing: .groups(infix: "albert_layers."),
    pooler: Pooler(module: "albert.pooler", activation: .tanh, isOptional: false))

  /// Liu et al. 2019, https://arxiv.org/abs/1907.11692; transformers' `modeling_roberta.py`.
  static let roberta = robertaLike(classPrefixes: ["Roberta"], Defaults(vocabSize: 50265))

  /// Conneau et al. 2019, https://arxiv.org/abs/1911.02116, and Martin et al. 2019, https://arxiv.org/abs/1911.03894:
  /// RoBERTa with other vocabularies.
  static let xlmRoberta = robertaLike(classPrefixes: ["XLMRoberta", "Camembert"], Defaults())

  /// Baevski et al. 2022, https://arxiv.org/abs/2202.03555: RoBERTa under another name.
  static let data2VecText = robertaLike(classPrefixes: ["Data2VecText"], prefix: "data2vec_text.", Defaults())

  /// Beltagy et al. 2020, https://arxiv.org/abs/2004.05150; transformers' `modeling_longformer.py`.
  static let longformer = robertaLike(
    classPrefixes: ["Longformer"], prefix: "longformer.", Defaults(), .local(globalSuffix: "_global"))

  private static func robertaLike(
    classPrefixes: [String], prefix: String = "roberta.", _ defaults: Defaults,
    _ attention: AttentionSpan = .window
  ) -> EncoderFamily {
    EncoderFamily(
      classPrefixes: classPrefixes, configuration: ConfigurationKeys(defaults: defaults),
      tensors: TensorNames(
        prefix: prefix, wordEmbeddings: "\(prefix)embeddings.word_embeddings",
        positionEmbeddings: "\(prefix)embeddings.position_embeddings",
        tokenTypeEmbeddings: "\(prefix)embeddings.token_type_embeddings",
        embeddingNorm: "\(prefix)embeddings.LayerNorm", layers: "\(prefix)encoder.layer.", layer: .bert,
        classifier: "classifier.out_proj", maskedWords: .roberta),
      positions: .tableAfterPadding, tokenTypes: .zero, norm: .layerNormAfter, feedForward: .dense,
      attention: attention,
      pooler: Pooler(module: "classifier.dense", activation: .tanh, isOptional: false))
  }

  /// Song et al. 2020, https://arxiv.org/abs/2004.09297; transformers' `modeling_mpnet.py`.
  static let mpnet = EncoderFamily(
    classPrefixes: ["MPNet"],
    configuration: ConfigurationKeys(
      tokenTypeCount: nil, paddingID: nil, defaults: Defaults(vocabSize: 30527)),
    tensors: TensorNames(
      prefix: "mpnet.", wordEmbeddings: "mpnet.embeddings.word_embeddings",
      positionEmbeddings: "mpnet.embeddings.position_embeddings", tokenTypeEmbeddings: nil,
      embeddingNorm: "mpnet.embeddings.LayerNorm", distances: "mpnet.encoder.relative_attention_bias",
      layers: "mpnet.encoder.layer.",
      layer: LayerNames(
        query: "attention.attn.q", key: "attention.attn.k", value: "attention.attn.v",
        attentionOutput: "attention.attn.o", attentionNorm: "attention.LayerNorm",
        intermediate: "intermediate.dense", output: "output.dense", outputNorm: "output.LayerNorm"),
      classifier: "classifier.out_proj", maskedWords: .roberta),
    positions: .tableAfterPadding, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    relativePositions: .bias,
    pooler: Pooler(module: "classifier.dense", activation: .tanh, isOptional: false))

  /// He et al. 2020, https://arxiv.org/abs/2006.03654: the first version; transformers' `modeling_deberta.py`.
  static let deberta = debertaLike(
    "Deberta",
    ConfigurationKeys(
      fixed: [("talking_head", .bool(false))],
      defaults: Defaults(vocabSize: 50265, tokenTypeCount: 0, layerNormEps: 1e-7)),
    layer: LayerNames(
      query: "attention.self.in_proj",
      headBiases: HeadBiases(query: "attention.self.q_bias", value: "attention.self.v_bias"),
      distanceKey: "attention.self.pos_proj", distanceQuery: "attention.self.pos_q_proj",
      attentionOutput: "attention.output.dense", attentionNorm: "attention.output.LayerNorm",
      intermediate: "intermediate.dense", output: "output.dense", outputNorm: "output.LayerNorm"))

  /// He et al. 2020, https://arxiv.org/abs/2006.03654, and 2021, https://arxiv.org/abs/2111.09543; transformers'
  /// `modeling_deberta_v2.py`.
  static let debertaV2 = debertaLike(
    "DebertaV2",
    ConfigurationKeys(
      defaults: Defaults(
        vocabSize: 128100, hiddenSize: 1536, layerCount: 24, headCount: 24, intermediateSize: 6144,
        tokenTypeCount: 0, layerNormEps: 1e-7)),
    distanceNorm: "deberta.encoder.LayerNorm",
    layer: LayerNames(
      query: "attention.self.query_proj", key: "attention.self.key_proj",
      value: "attention.self.value_proj",
      distanceKey: "attention.self.pos_key_proj", distanceQuery: "attention.self.pos_query_proj",
      attentionOutput: "attention.output.dense", attentionNorm: "attention.output.LayerNorm",
      intermediate: "intermediate.dense", output: "output.dense", outputNorm: "output.LayerNorm"))

  private static func debertaLike(
    _ classPrefix: String, _ configuration: ConfigurationKeys, distanceNorm: String? = nil, layer: LayerNames
  ) -> EncoderFamily {
    EncoderFamily(
      classPrefixes: [classPrefix],
      configuration: configuration,
      tensors: TensorNames(
        prefix: "deberta.", wordEmbeddings: "deberta.embeddings.word_embeddings",
        positionEmbeddings: "deberta.embeddings.position_embeddings",
        tokenTypeEmbeddings: "deberta.embeddings.token_type_embeddings",
        embeddingNorm: "deberta.embeddings.LayerNorm", distances: "deberta.encoder.rel_embeddings",
        distanceNorm: distanceNorm, layers: "deberta.encoder.layer.", layer: layer),
      positions: .tableIfBiased, norm: .layerNormAfter, feedForward: .dense, attention: .window,
      relativePositions: .disentangled,
      pooler: Pooler(
        module: "pooler.dense", activation: .gelu, isOptional: false, activationKey: "pooler_hidden_act"))
  }

  /// Warner et al. 2024, https://arxiv.org/abs/2412.13663; transformers' `modeling_modernbert.py`.
  static let modernBert = EncoderFamily(
    classPrefixes: ["ModernBert"],
    configuration: ConfigurationKeys(
      activation: "hidden_activation", tokenTypeCount: nil, layerNormEps: "norm_eps",
      biases: Biases(
        attention: .key("attention_bias"), intermediate: .key("mlp_bias"), output: .key("mlp_bias"),
        norm: .key("norm_bias"), pooler: .key("classifier_bias")),
      classifierPooling: "classifier_pooling",
      defaults: Defaults(
        vocabSize: 50368, layerCount: 22, intermediateSize: 1152, maxPositions: 8192, layerNormEps: 1e-5)),
    tensors: TensorNames(
      prefix: "model.", wordEmbeddings: "model.embeddings.tok_embeddings", positionEmbeddings: nil,
      tokenTypeEmbeddings: nil, embeddingNorm: "model.embeddings.norm", layers: "model.layers.",
      layer: LayerNames(
        query: "attn.Wqkv", attentionOutput: "attn.Wo", attentionNorm: "attn_norm",
        intermediate: "mlp.Wi", output: "mlp.Wo", outputNorm: "mlp_norm"),
      finalNorm: "model.final_norm", questionAnswering: "classifier",
      maskedWords: MaskedWordNames(
        dense: "head.dense", norm: "head.norm", bias: "decoder.bias", activation: .gelu)),
    positions: .rotary, norm: .layerNormBefore, feedForward: .gated(.behind), attention: .alternating,
    pooler: Pooler(
      module: "head.dense", activation: .gelu, isOptional: false,
      activationKey: "classifier_activation", norm: "head.norm", isForTokens: true))

  /// Nussbaum et al. 2024, https://arxiv.org/abs/2402.01613; transformers' `modeling_nomic_bert.py`, and the code of
  /// nomic-ai's checkpoints.
  static let nomicBert = EncoderFamily(
    classPrefixes: ["NomicBert"],
    configuration: ConfigurationKeys(
      hiddenSize: "n_embd", layerCount: "n_layer", headCount: "n_head", intermediateSize: "n_inner",
      maxPositions: "n_positions", activation: "activation_function", layerNormEps: "layer_norm_epsilon",
      biases: Biases(
        attention: .key("qkv_proj_bias"), intermediate: .key("mlp_fc1_bias"), output: .key("mlp_fc2_bias")),
      fixed: [
        ("prenorm", .bool(false)), ("parallel_block", .bool(false)),
        ("use_rms_norm", .bool(false)), ("causal", .bool(false)),
        ("rotary_emb_interleaved", .bool(false)),
        ("rotary_emb_fraction", .number(1)),
        ("rotary_scaling_factor", .null), ("rotary_emb_scale_base", .null),
      ],
      rotaryTheta: "rotary_emb_base", hasOwnCode: true,
      defaults: Defaults(
        vocabSize: 30528, maxPositions: 2048, rotaryTheta: 1000, activation: "swiglu")),
    tensors: TensorNames(
      prefix: "nomic_bert.", wordEmbeddings: "nomic_bert.embeddings.word_embeddings", positionEmbeddings: nil,
      tokenTypeEmbeddings: "nomic_bert.embeddings.token_type_embeddings", embeddingNorm: "nomic_bert.emb_ln",
      layers: "nomic_bert.encoder.layers.",
      layer: LayerNames(
        query: "attn.Wqkv", attentionOutput: "attn.out_proj", attentionNorm: "norm1",
        intermediate: "mlp.fc12", output: "mlp.fc2", outputNorm: "norm2")),
    positions: .rotary, norm: .layerNormAfter, feedForward: .gated(.module("mlp.fc11")), attention: .window,
    pooler: Pooler(module: "nomic_bert.pooler.dense", activation: .tanh, isOptional: false))

  /// Zhang et al. 2024, https://arxiv.org/abs/2407.19669; transformers' `modeling_gte.py`.
  static let gte = gteLike("Gte", prefix: "gte.")

  /// GTE under the name that it has in the code of Alibaba-NLP's checkpoints.
  static let new = gteLike("New", prefix: "new.")

  private static func gteLike(_ classPrefix: String, prefix: String) -> EncoderFamily {
    EncoderFamily(
      classPrefixes: [classPrefix],
      configuration: ConfigurationKeys(
        biases: Biases(intermediate: .never),
        fixed: [
          ("position_embedding_type", .string("rope")),
          ("layer_norm_type", .string("layer_norm")),
          ("pack_qkv", .bool(true)), ("logn_attention_scale", .bool(false)),
        ],
        rotaryTheta: "rope_theta", hasOwnCode: true,
        defaults: Defaults(tokenTypeCount: 1, fewestTokenTypes: 0)),
      tensors: TensorNames(
        prefix: prefix, wordEmbeddings: "\(prefix)embeddings.word_embeddings", positionEmbeddings: nil,
        tokenTypeEmbeddings: "\(prefix)embeddings.token_type_embeddings",
        embeddingNorm: "\(prefix)embeddings.LayerNorm", layers: "\(prefix)encoder.layer.",
        layer: LayerNames(
          query: "attention.qkv_proj", attentionOutput: "attention.o_proj", attentionNorm: "attn_ln",
          intermediate: "mlp.up_gate_proj", output: "mlp.down_proj", outputNorm: "mlp_ln")),
      positions: .rotary, norm: .layerNormAfter, feedForward: .gated(.before), attention: .window,
      pooler: Pooler(module: "\(prefix)pooler.dense", activation: .tanh, isOptional: false))
  }

  /// Günther et al. 2023, https://arxiv.org/abs/2310.19923: jina-embeddings-v2, by the code of jinaai's checkpoints.
  static let jinaBert = EncoderFamily(
    classPrefixes: ["JinaBert"],
    configuration: ConfigurationKeys(
      biases: Biases(intermediate: .never),
      fixed: [
        ("position_embedding_type", .string("alibi")), ("feed_forward_type", .string("geglu")),
      ],
      hasOwnCode: true, defaults: Defaults(maxPositions: 8192)),
    tensors: TensorNames(
      prefix: "bert.", wordEmbeddings: "bert.embeddings.word_embeddings", positionEmbeddings: nil,
      tokenTypeEmbeddings: "bert.embeddings.token_type_embeddings",
      embeddingNorm: "bert.embeddings.LayerNorm", layers: "bert.encoder.layer.",
      layer: LayerNames(
        query: "attention.self.query", key: "attention.self.key", value: "attention.self.value",
        attentionOutput: "attention.output.dense", attentionNorm: "attention.output.LayerNorm",
        intermediate: "mlp.gated_layers", output: "mlp.wo", outputNorm: "mlp.layernorm")),
    positions: .none, norm: .layerNormAfter, feedForward: .gated(.behind), attention: .window,
    relativePositions: .slopes,
    pooler: Pooler(module: "bert.pooler.dense", activation: .tanh, isOptional: false))

  /// Sturua et al. 2024, https://arxiv.org/abs/2409.10173: jina-embeddings-v3, by the code of jinaai's checkpoints.
  static let jinaV3 = EncoderFamily(
    classPrefixes: ["XLMRoberta"],
    configuration: ConfigurationKeys(
      paddingID: nil, fixed: [("position_embedding_type", .string("rotary"))],
      rotaryTheta: "rotary_emb_base", hasOwnCode: true, hasTaskAdapters: true,
      defaults: Defaults(
        vocabSize: 250002, hiddenSize: 1024, layerCount: 24, headCount: 16, intermediateSize: 4096,
        maxPositions: 8194, tokenTypeCount: 1, fewestTokenTypes: 0, layerNormEps: 1e-5)),
    tensors: TensorNames(
      prefix: "roberta.", wordEmbeddings: "roberta.embeddings.word_embeddings", positionEmbeddings: nil,
      tokenTypeEmbeddings: "roberta.embeddings.token_type_embeddings", embeddingNorm: "roberta.emb_ln",
      layers: "roberta.encoder.layers.",
      layer: LayerNames(
        query: "mixer.Wqkv", attentionOutput: "mixer.out_proj", attentionNorm: "norm1",
        intermediate: "mlp.fc1", output: "mlp.fc2", outputNorm: "norm2"),
      classifier: "classifier.out_proj"),
    positions: .rotary, tokenTypes: .zero, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    pooler: Pooler(module: "classifier.dense", activation: .tanh, isOptional: false))

  /// Sun et al. 2020, https://arxiv.org/abs/2004.02984; transformers' `modeling_mobilebert.py`.
  static let mobileBert = EncoderFamily(
    classPrefixes: ["MobileBert"],
    configuration: ConfigurationKeys(
      // That of PyTorch: transformers gives these norms none.
      outputNormEps: 1e-5, fixed: [("trigram_input", .bool(true))],
      defaults: Defaults(
        hiddenSize: 512, layerCount: 24, headCount: 4, intermediateSize: 512, activation: "relu")),
    tensors: TensorNames(
      prefix: "mobilebert.", wordEmbeddings: "mobilebert.embeddings.word_embeddings",
      positionEmbeddings: "mobilebert.embeddings.position_embeddings",
      tokenTypeEmbeddings: "mobilebert.embeddings.token_type_embeddings",
      embeddingNorm: "mobilebert.embeddings.LayerNorm", layers: "mobilebert.encoder.layer.",
      layer: .mobileBert),
    positions: .table, embeddings: .trigrams(by: "mobilebert.embeddings.embedding_transformation"),
    norm: .layerNormAfter, feedForward: .dense, attention: .window,
    pooler: Pooler(
      module: "mobilebert.pooler.dense", activation: .tanh, isOptional: false,
      presenceKey: "classifier_activation"))
}

extension EncoderFamily.MaskedWordNames {
  /// The names in RoBERTa and MPNet.
  fileprivate static let roberta = EncoderFamily.MaskedWordNames(
    dense: "lm_head.dense", norm: "lm_head.layer_norm", bias: "lm_head.bias", activation: .gelu)
}

extension EncoderFamily.LayerNames {
  /// The names in transformers' families that descend from BERT.
  static let bert = EncoderFamily.LayerNames(
    query: "attention.self.query", key: "attention.self.key", value: "attention.self.value",
    attentionOutput: "attention.output.dense", attentionNorm: "attention.output.LayerNorm",
    intermediate: "intermediate.dense", output: "output.dense", outputNorm: "output.LayerNorm")

  /// BERT's names, and those of the bottlenecks.
  static let mobileBert = {
    var names = bert
    names.narrow = EncoderFamily.NarrowNames(
      input: "bottleneck.input", attention: "bottleneck.attention", output: "output.bottleneck",
      feedForwards: "ffn")
    return names
  }()
}
