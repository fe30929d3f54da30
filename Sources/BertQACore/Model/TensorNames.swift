/// What an architecture's checkpoints call their modules; a module's tensors are its name with
/// ".weight" and ".bias".
struct TensorNames {
  struct Layer {
    let query: String
    let key: String
    let value: String
    let attentionOutput: String
    let attentionNorm: String
    let intermediate: String
    let output: String
    let outputNorm: String
  }

  /// Begins the encoder's names, except in checkpoints of a bare encoder.
  let prefix: String
  let wordEmbeddings: String
  let positionEmbeddings: String
  let tokenTypeEmbeddings: String?
  let embeddingNorm: String
  let questionAnswering = "qa_outputs"
  /// Between the vector of [CLS] and the classifier.
  let pooler: String
  let classifier = "classifier"
  private let family: Architecture.Family

  init(_ family: Architecture.Family) {
    self.family = family
    prefix = family == .bert ? "bert." : "distilbert."
    wordEmbeddings = "\(prefix)embeddings.word_embeddings"
    positionEmbeddings = "\(prefix)embeddings.position_embeddings"
    tokenTypeEmbeddings = family == .bert ? "\(prefix)embeddings.token_type_embeddings" : nil
    embeddingNorm = "\(prefix)embeddings.LayerNorm"
    pooler = family == .bert ? "\(prefix)pooler.dense" : "pre_classifier"
  }

  func layer(_ index: Int) -> Layer {
    switch family {
    case .bert:
      let base = "\(prefix)encoder.layer.\(index)"
      return Layer(
        query: "\(base).attention.self.query", key: "\(base).attention.self.key",
        value: "\(base).attention.self.value", attentionOutput: "\(base).attention.output.dense",
        attentionNorm: "\(base).attention.output.LayerNorm",
        intermediate: "\(base).intermediate.dense", output: "\(base).output.dense",
        outputNorm: "\(base).output.LayerNorm")
    case .distilBert:
      let base = "\(prefix)transformer.layer.\(index)"
      return Layer(
        query: "\(base).attention.q_lin", key: "\(base).attention.k_lin",
        value: "\(base).attention.v_lin", attentionOutput: "\(base).attention.out_lin",
        attentionNorm: "\(base).sa_layer_norm", intermediate: "\(base).ffn.lin1",
        output: "\(base).ffn.lin2", outputNorm: "\(base).output_layer_norm")
    }
  }
}
