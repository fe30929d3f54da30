extension EncoderFamily {
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
      classifier: "classifier.out_proj"),
    positions: .tableAfterPadding, norm: .layerNormAfter, feedForward: .dense, attention: .window,
    relativePositions: .bias,
    pooler: Pooler(module: "classifier.dense", activation: .tanh, isOptional: false))
}
