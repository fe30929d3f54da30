extension EncoderFamily {
  /// Warner et al. 2024, https://arxiv.org/abs/2412.13663; transformers' `modeling_modernbert.py`.
  static let modernBert = EncoderFamily(
    classPrefixes: ["ModernBert"],
    configuration: ConfigurationKeys(
      activation: "hidden_activation", tokenTypeCount: nil, layerNormEps: "norm_eps",
      biases: BiasKeys(
        attention: "attention_bias", feedForward: "mlp_bias", norm: "norm_bias", pooler: "classifier_bias"),
      classifierPooling: "classifier_pooling",
      defaults: Defaults(
        vocabSize: 50368, layerCount: 22, intermediateSize: 1152, maxPositions: 8192, layerNormEps: 1e-5)),
    tensors: TensorNames(
      prefix: "model.", wordEmbeddings: "model.embeddings.tok_embeddings", positionEmbeddings: nil,
      tokenTypeEmbeddings: nil, embeddingNorm: "model.embeddings.norm", layers: "model.layers.",
      layer: LayerNames(
        query: "attn.Wqkv", attentionOutput: "attn.Wo", attentionNorm: "attn_norm",
        intermediate: "mlp.Wi", output: "mlp.Wo", outputNorm: "mlp_norm"),
      finalNorm: "model.final_norm", questionAnswering: "classifier"),
    positions: .rotary, norm: .layerNormBefore, feedForward: .gated, attention: .alternating,
    pooler: Pooler(
      module: "head.dense", activation: .gelu, isOptional: false,
      activationKey: "classifier_activation", norm: "head.norm", isForTokens: true))
}
