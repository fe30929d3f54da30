/// What one code point of decoded text was made from: a well-formed sequence, or a maximal invalid one,
/// which reads as U+FFFD (Unicode, "U+FFFD Substitution of Maximal Subparts"; Python's "replace").
struct UTF8Unit {
  let byteCount: Int
  let scalar: Unicode.Scalar

  /// The unit that starts at `position`, which must be inside `text`.
  @inline(__always)
  init(_ text: UnsafeBufferPointer<UInt8>, at position: Int) {
    let lead = text[position]
    if lead < 0x80 {
      self.init(byteCount: 1, scalar: Unicode.Scalar(lead))
    } else {
      self.init(text, at: position, lead: lead)
    }
  }

  private init(byteCount: Int, scalar: Unicode.Scalar) {
    self.byteCount = byteCount
    self.scalar = scalar
  }

  private init(_ text: UnsafeBufferPointer<UInt8>, at position: Int, lead: UInt8) {
    let length: Int
    // The second byte is restricted after these leads: no overlong forms, surrogates or > U+10FFFF.
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF:
      length = 3
      if lead == 0xE0 { second = 0xA0...0xBF } else if lead == 0xED { second = 0x80...0x9F }
    case 0xF0...0xF4:
      length = 4
      if lead == 0xF0 { second = 0x90...0xBF } else if lead == 0xF4 { second = 0x80...0x8F }
    default: length = 1
    }
    var value = UInt32(lead) & (0x7F >> UInt32(length))
    var good = 1
    while good < length && position + good < text.count {
      let byte = text[position + good]
      guard (good == 1 ? second : 0x80...0xBF).contains(byte) else { break }
      value = value << 6 | UInt32(byte & 0x3F)
      good += 1
    }
    let isComplete = length > 1 && good == length
    self.init(byteCount: good, scalar: (isComplete ? Unicode.Scalar(value) : nil) ?? "\u{FFFD}")
  }
}
