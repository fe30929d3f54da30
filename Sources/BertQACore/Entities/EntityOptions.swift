/// Options for finding entities. The names in parentheses are those of the C header.
public struct EntityOptions: BatchOptions, Sendable {
  public var aggregation = TokenAggregation.model
  /// The labels to return, with or without B- and I-; empty: all that are not ignored.
  public var labels: [String] = []
  /// The labels to leave out, spelled as in results (`ignore_labels`).
  public var ignoredLabels = ["O"]
  /// Leaves out entities with a lower score, 0...1.
  public var threshold: Float = 0
  /// The number of tokens in a window, including special tokens (`max_seq_len`); at least 8. nil: as many as
  /// the model takes.
  public var maxSequenceLength: Int?
  /// The number of tokens that two neighbouring windows of a long text share (`doc_stride`), at most a third
  /// of the window; nil: 128.
  public var documentStride: Int?
  public var call = CallOptions()

  public init() {}
}
