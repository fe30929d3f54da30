/// A part of a text and what it is.
public struct Entity: Sendable, Equatable {
  /// Without the prefix B- or I-, but where each token is an entity.
  public var label: String
  public var bytes: TextRange
  public var codePoints: TextRange
  public var utf16: TextRange
  /// Probability of the label: the mean over the entity's words or tokens; 1 for what was found by a pattern.
  public var score: Float

  public init(
    label: String, bytes: TextRange, codePoints: TextRange, utf16: TextRange, score: Float
  ) {
    self.label = label
    self.bytes = bytes
    self.codePoints = codePoints
    self.utf16 = utf16
    self.score = score
  }
}

/// The entities of one text, in the order of the text.
public struct EntityList: Sendable {
  public var entities: [Entity] = []
  /// Windows that the model read; 0 where none was needed.
  public var windowCount = 0

  public init() {}
}
