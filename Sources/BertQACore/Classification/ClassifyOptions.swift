/// How to classify; each field says which models heed it. The names in parentheses are those of the C header.
public struct ClassifyOptions: Sendable {
  /// Word-count models: how many contributions to give, at most (`contributions`).
  public var contributions = 0
  /// Encoders: tokens of one window, special tokens included (`max_seq_len`), 8 or more; nil: as many as the model
  /// takes.
  public var maxSequenceLength: Int?
  /// Encoders: tokens that two neighbouring windows of a long text share (`doc_stride`), lowered to a third of the
  /// window; nil: 128.
  public var documentStride: Int?
  /// Encoders: how the logits of a long text's windows become one (`window_pooling`).
  public var windowPooling = WindowPooling.mean
  public var call = CallOptions()

  public init() {}

  /// In the numbering of `bertqa_window_pooling`.
  public enum WindowPooling: Int32, Sendable, CaseIterable {
    case mean = 0
    case max = 1
  }
}
