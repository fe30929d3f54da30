/// Options for calls on a recurrent language model.
public struct SequenceOptions: Sendable {
  /// Predictions: the number of words to return, at least 1. A number above the size of the vocabulary means
  /// all.
  public var topK = 1
  /// Likelihoods: true if the text is complete, so that its end symbol is predicted too.
  public var includesEnd = false
  public var call = CallOptions()

  public init(topK: Int = 1, includesEnd: Bool = false) {
    self.topK = topK
    self.includesEnd = includesEnd
  }

  /// Throws `.invalidArgument` for the first option outside its range.
  func validate() throws(BertQAError) {
    guard topK >= 1 else {
      throw BertQAError(.invalidArgument, argument: "top_k", "is \(topK), but must be at least 1")
    }
  }
}
