/// A text, or a pair of texts as sentence-pair models take them. The bytes are borrowed for the call.
public struct TextPair {
  public var text: UnsafeBufferPointer<UInt8>
  /// nil: no second text.
  public var second: UnsafeBufferPointer<UInt8>?

  public init(text: UnsafeBufferPointer<UInt8>, second: UnsafeBufferPointer<UInt8>? = nil) {
    self.text = text
    self.second = second
  }
}
