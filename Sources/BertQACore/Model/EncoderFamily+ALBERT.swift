extension EncoderFamily {
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
}
