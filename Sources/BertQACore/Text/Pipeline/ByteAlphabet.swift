/// GPT-2's alphabet: a printable character for each byte, so that pieces of any bytes can be spelled.
enum ByteAlphabet {
  /// The character of each byte.
  static let scalars: [UInt32] = {
    var scalars: [UInt32] = []
    var next: UInt32 = 0x100
    for byte in UInt32(0)...255 {
      if 0x21...0x7E ~= byte || 0xA1...0xAC ~= byte || 0xAE...0xFF ~= byte {
        scalars.append(byte)
      } else {
        scalars.append(next)
        next += 1
      }
    }
    return scalars
  }()

  /// The byte of each character; nil for one that is not in the alphabet.
  private static let bytes: [UInt8?] = {
    var bytes = [UInt8?](repeating: nil, count: 0x144)
    for (byte, scalar) in scalars.enumerated() { bytes[Int(scalar)] = UInt8(byte) }
    return bytes
  }()

  /// The characters of bytes, in UTF-8.
  static func spelling(of bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var spelling: [UInt8] = []
    spelling.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      let (utf8, size) = UTF8Codec.encode(scalars[Int(byte)])
      spelling.append(UInt8(truncatingIfNeeded: utf8))
      if size > 1 { spelling.append(UInt8(truncatingIfNeeded: utf8 >> 8)) }
    }
    return spelling
  }

  /// The bytes that `spelling`, in UTF-8, stands for; nil if it has characters of no byte.
  static func bytes(of spelling: some Collection<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    for scalar in String(decoding: spelling, as: UTF8.self).unicodeScalars {
      guard scalar.value < bytes.count, let byte = bytes[Int(scalar.value)] else { return nil }
      result.append(byte)
    }
    return result
  }
}
