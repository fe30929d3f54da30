/// How to classify; each field says which models heed it.
public struct ClassifyOptions: Sendable {
  /// Word-count models: how many contributions to give, at most.
  public var contributions = 0
  /// BERT models: tokens of one window, special tokens included; 0: as many as the model takes.
  public var maxSequenceLength = 0
  /// BERT models: tokens that two neighbouring windows of a long text share.
  public var documentStride = 128
  /// BERT models: how the logits of a long text's windows become one.
  public var windowPooling = WindowPooling.mean
  public var cancellation: Cancellation?

  public init() {}

  public enum WindowPooling: Int32, Sendable, CaseIterable {
    case mean = 0
    case max = 1
  }
}
