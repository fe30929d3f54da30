extension EncoderFamily {
  /// Liu et al. 2019, https://arxiv.org/abs/1907.11692; transformers' `modeling_roberta.py`.
  static let roberta = robertaLike(classPrefixes: ["Roberta"], Defaults(vocabSize: 50265))

  /// Conneau et al. 2019, https://arxiv.org/abs/1911.02116, and Martin et al. 2019, https://arxiv.org/abs/1911.03894:
  /// RoBERTa with other vocabularies.
  static let xlmRoberta = robertaLike(classPrefixes: ["XLMRoberta", "Camembert"], Defaults())

  private static func robertaLike(classPrefixes: [String], _ defaults: Defaults) -> EncoderFamily {
    EncoderFamily(
      classPrefixes: classPrefixes, configuration: ConfigurationKeys(defaults: defaults),
      tensors: TensorNames(
        prefix: "roberta.", wordEmbeddings: "roberta.embeddings.word_embeddings",
        positionEmbeddings: "roberta.embeddings.position_embeddings",
        tokenTypeEmbeddings: "roberta.embeddings.token_type_embeddings",
        embeddingNorm: "roberta.embeddings.LayerNorm", layers: "roberta.encoder.layer.", layer: .bert,
        classifier: "classifier.out_proj"),
      positions: .tableAfterPadding, tokenTypes: .zero, norm: .layerNormAfter, feedForward: .dense,
      attention: .window,
      pooler: Pooler(module: "classifier.dense", activation: .tanh, isOptional: false))
  }
}
