extension JSONScanner {
  /// Returns the byte at the position, or 0 at the end. No token starts with 0.
  @inline(__always)
  var next: UInt8 { position < end ? text[position] : 0 }

  func flaw(_ what: StaticString) -> Flaw { Flaw(what: what, position: position) }

  @inline(__always)
  mutating func skipSpace() {
    while position < end {
      switch text[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
      default: return
      }
    }
  }

  mutating func scalar() throws(Flaw) -> (Kind, hasEscapes: Bool) {
    switch next {
    case UInt8(ascii: "\""): return (.string, try string())
    case UInt8(ascii: "t"): return try literal("true", .boolean)
    case UInt8(ascii: "f"): return try literal("false", .boolean)
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try number()
      return (.number, false)
    default: throw flaw("expected a value")
    }
  }

  /// Passes a string from its opening quote. Returns true if it has escapes.
  mutating func string() throws(Flaw) -> Bool {
    position &+= 1
    var hasEscapes = false
    while true {
      skipPlainText()
      switch next {
      case UInt8(ascii: "\""):
        position &+= 1
        return hasEscapes
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try escape()
      default:
        throw flaw(position < end ? "control character in a string" : "unterminated string")
      }
    }
  }

  /// Advances to the next quote, backslash or control character, eight bytes at a time.
  private mutating func skipPlainText() {
    let raw = UnsafeRawBufferPointer(text)
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    while position &+ 8 <= end {
      let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian
      let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      // Only the lowest flag is exact; flags above it may be false.
      let found =
        (((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
          | ((word &- ones &* 0x20) & ~word)) & high
      if found != 0 {
        position &+= found.trailingZeroBitCount / 8
        return
      }
      position &+= 8
    }
    while position < end {
      let byte = text[position]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return }
      position &+= 1
    }
  }

  private mutating func escape() throws(Flaw) {
    position &+= 1
    switch next {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position &+= 1
    case UInt8(ascii: "u"):
      position &+= 1
      for _ in 0..<4 {
        guard JSONText.hexadecimal(next) != nil else { throw flaw("expected four hexadecimal digits") }
        position &+= 1
      }
    default: throw flaw("unknown escape")
    }
  }

  private mutating func literal(_ word: StaticString, _ kind: Kind) throws(Flaw) -> (Kind, hasEscapes: Bool) {
    let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    guard end - position >= bytes.count, text[position..<position + bytes.count].elementsEqual(bytes) else {
      throw flaw("expected a value")
    }
    position += bytes.count
    return (kind, false)
  }

  private mutating func number() throws(Flaw) {
    if next == UInt8(ascii: "-") { position &+= 1 }
    if next == UInt8(ascii: "0") { position &+= 1 } else { try digits() }
    if next == UInt8(ascii: ".") {
      position &+= 1
      try digits()
    }
    if next | 0x20 == UInt8(ascii: "e") {
      position &+= 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position &+= 1 }
      try digits()
    }
  }

  /// Passes one or more digits.
  private mutating func digits() throws(Flaw) {
    guard next &- UInt8(ascii: "0") < 10 else { throw flaw("malformed number") }
    while next &- UInt8(ascii: "0") < 10 { position &+= 1 }
  }
}
