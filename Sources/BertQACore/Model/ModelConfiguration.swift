/// The shape of a model: what `config.json` says of it.
struct ModelConfiguration: Sendable, Equatable {
  var architecture: Architecture = .bertForQuestionAnswering
  var family: Architecture.Family = .bert
  /// Rows of the word embeddings; the vocabulary may be smaller.
  var vocabSize: Int
  var hiddenSize: Int
  var layerCount: Int
  /// Divides `hiddenSize`.
  var headCount: Int
  var intermediateSize: Int
  /// The longest input, tokens.
  var maxPositions: Int
  /// 0 for architectures without token types.
  var typeVocabSize: Int
  var layerNormEps: Float
  /// By how much the best span's logits must exceed the null span's to be an answer
  /// (`bertqa.no_answer_threshold`).
  var noAnswerThreshold: Float = 0
  /// A classifier's labels by id.
  var labels: [String] = []
  /// What a classifier's outputs mean.
  var problemType = ProblemType.singleLabel

  /// Features of one attention head.
  var headSize: Int { hiddenSize / headCount }
}
