/// Decodes the contents of a JSON string that was already scanned.
enum JSONText {
  /// Appends the text that `quoted` spells. U+FFFD replaces an unpaired surrogate.
  static func decode(_ quoted: UnsafeBufferPointer<UInt8>, into buffer: ByteBuffer) throws(ToolError) {
    // No escape is shorter than the character that it spells.
    try buffer.reserve(quoted.count)
    let room = buffer.room
    var position = 0
    var count = 0
    while position < quoted.count {
      let byte = quoted[position]
      if byte != UInt8(ascii: "\\") {
        room[count] = byte
        count += 1
        position += 1
        continue
      }
      for unit in UTF8.encode(scalar(quoted, &position)) ?? UTF8.encodedReplacementCharacter {
        room[count] = unit
        count += 1
      }
    }
    buffer.extend(by: count)
  }

  /// True if a key spells `segment`.
  static func matches(_ quoted: UnsafeBufferPointer<UInt8>, hasEscapes: Bool, _ segment: [UInt8]) -> Bool {
    guard hasEscapes else { return quoted.count == segment.count && quoted.elementsEqual(segment) }
    let buffer = ByteBuffer()
    // Memory that does not suffice for a key does not suffice for the record either.
    guard (try? decode(quoted, into: buffer)) != nil else { return false }
    return buffer.bytes.elementsEqual(segment)
  }

  /// Returns the length of the byte or escape at `position` in the spelling and in the text.
  static func unit(_ quoted: UnsafeBufferPointer<UInt8>, at position: Int) -> (spelled: Int, text: Int) {
    guard quoted[position] == UInt8(ascii: "\\") else { return (1, 1) }
    var end = position
    let count = UTF8.width(scalar(quoted, &end))
    return (end - position, count)
  }

  /// Decodes the escape that begins at a backslash and advances past it.
  private static func scalar(_ quoted: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Unicode.Scalar {
    let kind = quoted[position + 1]
    guard kind == UInt8(ascii: "u") else {
      position += 2
      switch kind {
      case UInt8(ascii: "b"): return "\u{08}"
      case UInt8(ascii: "f"): return "\u{0C}"
      case UInt8(ascii: "n"): return "\n"
      case UInt8(ascii: "r"): return "\r"
      case UInt8(ascii: "t"): return "\t"
      default: return Unicode.Scalar(kind)
      }
    }
    let code = codeUnit(quoted, at: position) ?? 0xFFFD
    position += 6
    guard code & 0xFC00 == 0xD800, let low = codeUnit(quoted, at: position), low & 0xFC00 == 0xDC00 else {
      return Unicode.Scalar(code) ?? "\u{FFFD}"
    }
    position += 6
    return Unicode.Scalar(0x10000 + (code & 0x3FF) << 10 + low & 0x3FF) ?? "\u{FFFD}"
  }

  /// Returns the code unit of a \u escape, if there is one.
  private static func codeUnit(_ quoted: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt32? {
    guard position + 6 <= quoted.count, quoted[position] == UInt8(ascii: "\\"),
      quoted[position + 1] == UInt8(ascii: "u")
    else { return nil }
    var code: UInt32 = 0
    for offset in 2..<6 {
      guard let digit = hexadecimal(quoted[position + offset]) else { return nil }
      code = code << 4 | digit
    }
    return code
  }

  static func hexadecimal(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 0x30
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 0x57
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 0x37
    default: nil
    }
  }
}
