/// A half-open range of a text, in the unit that its property names: bytes, code points or UTF-16 units.
public struct TextRange: Sendable, Equatable, Hashable {
  public let start: Int
  public let end: Int

  public init(start: Int, end: Int) {
    self.start = start
    self.end = end
  }

  public var count: Int { end - start }
}
