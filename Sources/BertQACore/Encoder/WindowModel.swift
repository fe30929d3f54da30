/// Something that reads windows of tokens and gives numbers for them: the encoder, or a test double.
protocol WindowModel: Sendable {
  /// Runs the model and its head on all windows of a batch.
  /// - Parameter input: what to give numbers for; nil: what the model's head reads.
  func outputs(
    of batch: WindowBatch, giving input: HeadInput?, _ monitor: CallMonitor?
  ) throws(BertQAError) -> HeadOutputs
}

extension BertQAError {
  /// A model whose parameters are finite, but not what it computed from them.
  /// - Parameter what: "logits that are not finite numbers", say.
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
  /// For tokens [columns][tokens of the batch], 0 for tokens that no window covers; for windows
  /// [windows][columns], 0 for windows without tokens.
  var values: [Float]
}
