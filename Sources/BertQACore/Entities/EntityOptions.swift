/// How to find the entities of a text. The names in parentheses are those of the C header.
public struct EntityOptions: Sendable {
  public var aggregation = TokenAggregation.model
  /// The labels to give, with or without B- and I-; empty: all that are not ignored.
  public var labels: [String] = []
  /// Labels to leave out, as results spell them (`ignore_labels`).
  public var ignoredLabels = ["O"]
  /// Entities of a lower score are left out: 0...1.
  public var threshold: Float = 0
  /// Tokens of one window, special tokens included (`max_seq_len`), 8 or more; nil: as many as the model takes.
  public var maxSequenceLength: Int?
  /// Tokens that two neighbouring windows of a long text share (`doc_stride`), lowered to a third of the window;
  /// nil: 128.
  public var documentStride: Int?
  public var call = CallOptions()

  public init() {}
}
