/// One example of a label: a text that it suits, or one that names it. The bytes are borrowed for the call.
public struct LabelExample {
  public var text: UnsafeBufferPointer<UInt8>
  public var label: String

  public init(text: UnsafeBufferPointer<UInt8>, label: String) {
    self.text = text
    self.label = label
  }
}
