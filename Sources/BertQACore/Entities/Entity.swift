/// A part of a text and its label.
public struct Entity: Sendable, Equatable {
  /// The label without its prefix B- or I-, unless each token is an entity.
  public var label: String
  public var bytes: TextRange
  public var codePoints: TextRange
  public var utf16: TextRange
  /// The label's probability, the mean over the entity's words or tokens; 1 for an entity found by a PII
  /// rule.
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
  /// The number of windows that the model read; 0 if it read none.
  public var windowCount = 0

  public init() {}
}
