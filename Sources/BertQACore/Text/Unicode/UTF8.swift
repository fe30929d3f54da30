/// One decoded unit of UTF-8: a well-formed sequence, or a maximal invalid one, which reads as U+FFFD.
struct DecodedScalar {
  /// The code point; U+FFFD for an invalid sequence.
  var scalar: UInt32
  /// Bytes consumed, 1...4.
  var size: Int

  /// True if it is a well-formed sequence, of which the first byte is given.
  func isWellFormed(first: UInt8) -> Bool {
    // A well-formed U+FFFD has three bytes, the first of them 0xEF; no invalid unit has.
    scalar != 0xFFFD || size == 3 && first == 0xEF
  }

  var unicodeScalar: Unicode.Scalar { Unicode.Scalar(scalar) ?? "\u{FFFD}" }

  /// Unicode's White_Space, and the four separators of ASCII, which Python strips too.
  var isWhiteSpace: Bool {
    if scalar < 0x80 { return scalar == 0x20 || 0x09...0x0D ~= scalar || 0x1C...0x1F ~= scalar }
    return unicodeScalar.properties.isWhitespace
  }
}

/// Converts UTF-8 to code points and back, for any bytes: see Unicode, "U+FFFD Substitution of Maximal Subparts",
/// which Python's "replace" follows too.
enum UTF8Codec {
  /// Decodes the unit that begins at `text[position]`, which must be inside `text`.
  @inline(__always)
  static func decode(_ text: UnsafeBufferPointer<UInt8>, at position: Int) -> DecodedScalar {
    decode(text.baseAddress.unsafelyUnwrapped, at: position, end: text.count)
  }

  /// Decodes the unit that begins at `text[position]`, `position < end`.
  ///
  /// Groups invalid bytes by Unicode's practice of maximal subparts: the longest prefix of a valid sequence counts as
  /// one U+FFFD, any other byte as one each.
  @inline(__always)
  static func decode(_ text: UnsafePointer<UInt8>, at position: Int, end: Int) -> DecodedScalar {
    let lead = UInt32(text[position])
    if lead < 0x80 { return DecodedScalar(scalar: lead, size: 1) }
    if lead &- 0xC2 < 0x1E, end &- position >= 2 {
      let second = UInt32(text[position &+ 1])
      if second & 0xC0 == 0x80 {
        return DecodedScalar(scalar: (lead & 0x1F) << 6 | second & 0x3F, size: 2)
      }
    }
    if lead & 0xF0 == 0xE0, end &- position >= 3 {
      let second = UInt32(text[position &+ 1])
      let third = UInt32(text[position &+ 2])
      let scalar = (lead & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F
      if second & 0xC0 == 0x80, third & 0xC0 == 0x80, scalar >= 0x800, scalar & 0xF800 != 0xD800 {
        return DecodedScalar(scalar: scalar, size: 3)
      }
    }
    return decodeRare(text, at: position, end: end)
  }

  /// Decodes four-byte sequences and everything invalid.
  @inline(never)
  private static func decodeRare(
    _ text: UnsafePointer<UInt8>, at position: Int, end: Int
  ) -> DecodedScalar {
    let lead = text[position]
    let length: Int
    var allowed: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, allowed) = (3, 0xA0...0xBF)
    case 0xED: (length, allowed) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, allowed) = (4, 0x90...0xBF)
    case 0xF4: (length, allowed) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: return DecodedScalar(scalar: 0xFFFD, size: 1)
    }
    var scalar = UInt32(lead) & (0x7F >> UInt32(length))
    for offset in 1..<length {
      guard position + offset < end, allowed.contains(text[position + offset]) else {
        return DecodedScalar(scalar: 0xFFFD, size: offset)
      }
      scalar = scalar << 6 | UInt32(text[position + offset]) & 0x3F
      allowed = 0x80...0xBF
    }
    return DecodedScalar(scalar: scalar, size: length)
  }

  /// Decodes the unit that ends before `text[position]`, `position > begin`.
  ///
  /// Finds the same scalars as decoding forwards; invalid bytes come one at a time.
  static func decodeBackwards(
    _ text: UnsafePointer<UInt8>, before position: Int, begin: Int
  ) -> DecodedScalar {
    for size in 1...min(4, position - begin) where text[position - size] & 0xC0 != 0x80 {
      let decoded = decode(text, at: position - size, end: position)
      return decoded.size == size ? decoded : DecodedScalar(scalar: 0xFFFD, size: 1)
    }
    return DecodedScalar(scalar: 0xFFFD, size: 1)
  }

  /// Returns the size of the well-formed sequence that begins with `lead`.
  @inline(__always)
  static func size(lead: UInt8) -> Int {
    if lead < 0x80 { return 1 }
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
  }

  /// Returns the bytes of a scalar value, the first lowest, and their number.
  static func encode(_ scalar: UInt32) -> (bytes: UInt32, count: Int) {
    let low = 0x80 | scalar & 0x3F
    let second = 0x80 | scalar >> 6 & 0x3F
    let third = 0x80 | scalar >> 12 & 0x3F
    switch scalar {
    case 0..<0x80: return (scalar, 1)
    case 0x80..<0x800: return (0xC0 | scalar >> 6 | low << 8, 2)
    case 0x800..<0x10000: return (0xE0 | scalar >> 12 | second << 8 | low << 16, 3)
    default: return (0xF0 | scalar >> 18 | third << 8 | second << 16 | low << 24, 4)
    }
  }

  /// True if the bytes are well-formed UTF-8.
  static func isValid(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = text.baseAddress else { return true }
    var position = 0
    while position < text.count {
      let decoded = decode(base, at: position, end: text.count)
      guard decoded.isWellFormed(first: base[position]) else { return false }
      position += decoded.size
    }
    return true
  }
}

/// ASCII white space.
@inline(__always)
func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }

/// Passes the contiguous UTF-8 bytes of a string to `body`.
func withBytes<Result>(
  of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Result
) throws(BertQAError) -> Result {
  var text = text
  let result = text.withUTF8 { bytes in
    // withUTF8 does not rethrow typed errors.
    do throws(BertQAError) {
      return Swift.Result<Result, BertQAError>.success(try body(bytes))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

/// Passes the UTF-8 bytes of several strings, in one allocation, to `body`.
func withBytes<Result>(
  of texts: [String], _ body: ([UnsafeBufferPointer<UInt8>]) throws(BertQAError) -> Result
) throws(BertQAError) -> Result {
  var all = try [UInt8](checkedCapacity: texts.reduce(0) { $0 + $1.utf8.count })
  var ends = try [Int](checkedCapacity: texts.count)
  for text in texts {
    all += text.utf8
    ends.append(all.count)
  }
  return try all.withElements { all throws(BertQAError) in
    var start = 0
    return try body(
      ends.map { end in
        defer { start = end }
        return UnsafeBufferPointer(rebasing: all[start..<end])
      })
  }
}

extension Collection<UInt8> {
  /// The size of the byte order mark that UTF-8 begins with; 0 for none.
  package var byteOrderMarkSize: Int { starts(with: "\u{FEFF}".utf8) ? 3 : 0 }
}
