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

extension TextRange {
  /// The part of a string that this range of its UTF-8 bytes is.
  func text(in text: String) -> String {
    let range = range(in: text)
    return String(decoding: text.utf8[range], as: UTF8.self)
  }

  func range(in text: String) -> Range<String.Index> {
    let utf8 = text.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: start)
    return start..<utf8.index(start, offsetBy: count)
  }
}
