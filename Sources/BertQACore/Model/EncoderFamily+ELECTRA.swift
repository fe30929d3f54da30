extension EncoderFamily {
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
}
