/// Options for computing vectors.
public struct EmbedOptions: BatchOptions, Sendable {
  public var pooling = Pooling.model
  /// Scales vectors to length 1 (`normalize`); nil: as the model's files specify.
  public var normalizes: Bool?
  /// The number of tokens in a window, including special tokens (`max_seq_len`); at least 8. nil: as the
  /// model's files specify.
  public var maxSequenceLength: Int?
  /// Truncates longer texts, as sentence-transformers does. Otherwise they are read in windows, whose vectors
  /// are averaged by their number of tokens, or with equal weights for `Pooling.cls`.
  public var truncates = false
  public var call = CallOptions()

  public init() {}

  /// How the last layer's token vectors become one vector, with the numbers of `bertqa_pooling`.
  public enum Pooling: Int32, Sendable, CaseIterable {
    /// As the model's sentence-transformers files specify, else the mean.
    case model = 0
    /// The mean over all tokens, including [CLS] and [SEP].
    case mean = 1
    /// The vector of [CLS].
    case cls = 2
  }
}
