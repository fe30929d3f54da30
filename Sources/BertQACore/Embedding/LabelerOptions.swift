public struct LabelerOptions: Sendable {
  /// logit = scale · cosine of the angle between text and label; above 0.
  public var scale: Float = 20
  /// How texts become vectors; they are always scaled to length 1. Its cancellation is for making the
  /// labeler.
  public var embed = EmbedOptions()

  public init() {}
}
