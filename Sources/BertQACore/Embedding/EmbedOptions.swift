/// How texts become vectors.
public struct EmbedOptions: Sendable {
  public var pooling = Pooling.model
  /// Scale vectors to length 1; nil: as the model's files say.
  public var normalizes: Bool?
  /// Tokens of one window, special tokens included, 8 or more; 0: as the model's files say.
  public var maxSequenceLength = 0
  /// Cut longer texts, as sentence-transformers does. Else they are read in windows whose vectors are
  /// averaged by their tokens, or with `Pooling.cls` each alike.
  public var truncates = false
  public var cancellation: Cancellation?

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
