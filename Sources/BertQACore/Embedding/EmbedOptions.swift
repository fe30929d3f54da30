/// How texts become vectors.
public struct EmbedOptions: Sendable {
  public var pooling = Pooling.model
  /// Scale vectors to length 1 (`normalize`); nil: as the model's files say.
  public var normalizes: Bool?
  /// Tokens of one window, special tokens included (`max_seq_len`), 8 or more; nil: as the model's files say.
  public var maxSequenceLength: Int?
  /// Cut longer texts, as sentence-transformers does. Else they are read in windows whose vectors are
  /// averaged by their tokens, or with `Pooling.cls` with equal weights.
  public var truncates = false
  public var call = CallOptions()

  public init() {}

  /// How the last layer's token vectors become one, in the numbering of `bertqa_pooling`.
  public enum Pooling: Int32, Sendable, CaseIterable {
    /// What the model's sentence-transformers files say, else the mean.
    case model = 0
    /// Over all tokens, [CLS] and [SEP] included.
    case mean = 1
    /// The vector of [CLS].
    case cls = 2
  }
}
