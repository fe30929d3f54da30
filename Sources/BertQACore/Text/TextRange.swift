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
  /// Returns the part of a string in this range of UTF-8 bytes.
  func text(in text: String) -> String {
    let range = range(in: text)
    return String(decoding: text.utf8[range], as: UTF8.self)
  }

  /// Of a text that is shorter than the one read, the range has less or nothing.
  func range(in text: String) -> Range<String.Index> {
    let utf8 = text.utf8
    func index(_ offset: Int) -> String.Index {
      utf8.index(utf8.startIndex, offsetBy: offset, limitedBy: utf8.endIndex) ?? utf8.endIndex
    }
    return index(start)..<index(end)
  }
}

/// A text, or a pair of texts for a sentence-pair model. The bytes are borrowed for the call.
public struct TextPair {
  public var text: UnsafeBufferPointer<UInt8>
  /// nil: no second text.
  public var second: UnsafeBufferPointer<UInt8>?

  public init(text: UnsafeBufferPointer<UInt8>, second: UnsafeBufferPointer<UInt8>? = nil) {
    self.text = text
    self.second = second
  }
}

/// The maximum bytes of a text: offsets of tokens have 32 bits.
package enum TextLimit {
  package static let byteCount = Int(Int32.max)

  /// Throws `.tooLarge` for a longer text; `argument` is its name in the call.
  static func check(
    _ text: UnsafeBufferPointer<UInt8>, _ argument: String
  ) throws(BertQAError) {
    if text.count <= byteCount { return }
    throw BertQAError(
      .tooLarge, argument: argument,
      "has \(text.count) bytes, but at most \(byteCount) are allowed: split it")
  }
}
