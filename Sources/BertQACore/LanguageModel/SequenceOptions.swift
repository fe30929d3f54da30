/// What calls on a recurrent language model take beside their input.
public struct SequenceOptions: Sendable {
  /// Predictions: how many of the next words to give, at least 1; beyond the vocabulary: all.
  public var topK = 1
  /// Likelihoods: whether the text is complete, so that its end symbol is predicted too.
  public var includesEnd = false
  public var call = CallOptions()

  public init(topK: Int = 1, includesEnd: Bool = false) {
    self.topK = topK
    self.includesEnd = includesEnd
  }

  /// Throws `.invalidArgument` for the first option that is out of its range.
  func validate() throws(BertQAError) {
    guard topK >= 1 else {
      throw BertQAError(.invalidArgument, argument: "top_k", "is \(topK), but must be at least 1")
    }
  }
}
