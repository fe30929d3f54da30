/// A model that reads windows of tokens and returns numbers for them: the encoder, or a test double.
protocol WindowModel: Sendable {
  /// Runs the model and its head on all windows of a batch.
  /// - Parameter input: whether to return numbers per token or per window; nil: as the model's head does.
  func outputs(
    of batch: WindowBatch, giving input: HeadInput?, _ monitor: CallMonitor?
  ) throws(BertQAError) -> HeadOutputs
}

extension BertQAError {
  /// The error for a model whose parameters are finite but whose results are not.
  /// - Parameter what: for example "logits that are not finite numbers".
  static func nonFiniteResult(_ what: String) -> BertQAError {
    BertQAError(
      .invalidModel,
      "the model produced \(what): its weights are damaged or overflow the chosen precision; check the model's "
        + "files")
  }
}

/// A head's numbers for a batch.
struct HeadOutputs {
  var input: HeadInput
  var columns: Int
  /// For tokens [columns][tokens of the batch], with 0 for tokens that no window covers; for windows
  /// [windows][columns], with 0 for windows without tokens.
  var values: [Float]
}
