/// A stretch of text that goes through the model by itself: [CLS] question [SEP] context [SEP].
struct Window: Sendable, Equatable {
  /// The window's tokens are `firstToken` ..< `firstToken + tokenCount` of the batch.
  var firstToken: Int
  var tokenCount: Int
  /// Tokens from here on, counted within the window, have token type 1; those before it type 0.
  var secondSegment: Int
}

/// Any number of windows, their tokens end to end. Nothing is padded.
struct WindowBatch: Sendable {
  var ids: [Int32] = []
  var windows: [Window] = []
}

/// Something that says of each token how likely an answer starts or ends there.
protocol LogitsSource: Sendable {
  /// One start and one end logit per token of `batch.ids`, in that order (0 for tokens that no window
  /// covers).
  func logits(
    of batch: WindowBatch, cancellation: Cancellation?
  ) throws(BertQAError) -> (start: [Float], end: [Float])
}
