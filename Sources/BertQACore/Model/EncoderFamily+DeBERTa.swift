extension EncoderFamily {
  /// He et al. 2020, https://arxiv.org/abs/2006.03654, and 2021, https://arxiv.org/abs/2111.09543; transformers'
  /// `modeling_deberta_v2.py`.
  static let debertaV2 = EncoderFamily(
    classPrefixes: ["DebertaV2"],
    configuration: ConfigurationKeys(
      defaults: Defaults(
        vocabSize: 128100, hiddenSize: 1536, layerCount: 24, headCount: 24, intermediateSize: 6144,
        tokenTypeCount: 0, layerNormEps: 1e-7)),
    tensors: TensorNames(
      prefix: "deberta.", wordEmbeddings: "deberta.embeddings.word_embeddings",
      positionEmbeddings: "deberta.embeddings.position_embeddings",
      tokenTypeEmbeddings: "deberta.embeddings.token_type_embeddings",
      embeddingNorm: "deberta.embeddings.LayerNorm", distances: "deberta.encoder.rel_embeddings",
      distanceNorm: "deberta.encoder.LayerNorm", layers: "deberta.encoder.layer.",
      layer: LayerNames(
        query: "attention.self.query_proj", key: "attention.self.key_proj",
        value: "attention.self.value_proj",
        distanceKey: "attention.self.pos_key_proj", distanceQuery: "attention.self.pos_query_proj",
        attentionOutput: "attention.output.dense", attentionNorm: "attention.output.LayerNorm",
        intermediate: "intermediate.dense", output: "output.dense", outputNorm: "output.LayerNorm")),
    positions: .tableIfBiased, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    relativePositions: .disentangled,
    pooler: Pooler(
      module: "pooler.dense", activation: .gelu, isOptional: false, activationKey: "pooler_hidden_act"))
}
