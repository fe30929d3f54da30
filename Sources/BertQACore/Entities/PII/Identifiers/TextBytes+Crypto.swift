/// Finds addresses of Bitcoin and Ethereum by their checksums, and MAC addresses.
extension TextBytes {
  /// Matches a Bitcoin address (Base58Check, Bech32, Bech32m) or an Ethereum address (EIP-55, or in one case).
  func cryptoAddress(at start: Int) -> Range<Int>? {
    switch self[start] {
    case UInt8(ascii: "1"), UInt8(ascii: "3"): return base58Address(at: start)
    case UInt8(ascii: "b"), UInt8(ascii: "B"): return has("bc1", at: start) ? bech32Address(at: start) : nil
    case UInt8(ascii: "0"): return has("0x", at: start) ? ethereumAddress(at: start) : nil
    default: return nil
    }
  }

  /// Returns the end of a word of letters and digits; nil if it is longer.
  private func wordEnd(_ start: Int, most: Int) -> Int? {
    var end = start
    while isAlphanumeric(end), end - start <= most { end += 1 }
    return end - start <= most && !isWordByte(end) ? end : nil
  }

  private static let base58 = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
  private static let bech32 = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

  /// 25 bytes: a version, 20 of a hash, and the first four of a hash of these.
  private func base58Address(at start: Int) -> Range<Int>? {
    guard let end = wordEnd(start, most: 35), end - start >= 26 else { return nil }
    var number = [UInt8](repeating: 0, count: 25)
    for byte in bytes[start..<end] {
      guard var carry = Self.base58.firstIndex(of: byte) else { return nil }
      for index in number.indices.reversed() {
        carry += 58 * Int(number[index])
        number[index] = UInt8(carry & 0xFF)
        carry >>= 8
      }
      if carry > 0 { return nil }
    }
    guard number[0] == 0 || number[0] == 5 else { return nil }
    let hash = SHA256.hash(SHA256.hash(Array(number[..<21])))
    return hash[..<4] == number[21...] ? start..<end : nil
  }

  /// BIP 173 and 350: a polynomial code over 32 characters.
  private func bech32Address(at start: Int) -> Range<Int>? {
    guard let end = wordEnd(start, most: 90), end - start >= 14 else { return nil }
    let word = bytes[start..<end]
    // In one case.
    let letters = word.filter(Self.isLetter)
    guard letters.allSatisfy({ $0 & 0x20 == 0 }) || letters.allSatisfy({ $0 & 0x20 != 0 }) else { return nil }
    // The high and low bits of "bc", with 0 between them.
    var values: [UInt32] = [3, 3, 0, 2, 3]
    for byte in word.dropFirst(3) {
      guard let value = Self.bech32.firstIndex(of: Self.isLetter(byte) ? byte | 0x20 : byte) else {
        return nil
      }
      values.append(UInt32(value))
    }
    let generators: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
    var check: UInt32 = 1
    for value in values {
      let top = check >> 25
      check = (check & 0x1FF_FFFF) << 5 ^ value
      for bit in 0..<5 where top >> UInt32(bit) & 1 == 1 { check ^= generators[bit] }
    }
    return check == 1 || check == 0x2BC8_30A3 ? start..<end : nil
  }

  /// 40 hexadecimal digits. In mixed case each letter is a capital where the hash of the others says so.
  private func ethereumAddress(at start: Int) -> Range<Int>? {
    guard wordEnd(start, most: 42) == start + 42 else { return nil }
    let digits = bytes[start + 2..<start + 42]
    guard digits.allSatisfy(Self.isHexDigit) else { return nil }
    let letters = digits.filter(Self.isLetter)
    let isMixed = letters.contains { $0 & 0x20 == 0 } && letters.contains { $0 & 0x20 != 0 }
    guard isMixed else { return start..<start + 42 }
    let hash = Keccak256.hash(digits.map { Self.isLetter($0) ? $0 | 0x20 : $0 })
    for (index, byte) in digits.enumerated() where Self.isLetter(byte) {
      let nibble = index % 2 == 0 ? hash[index / 2] >> 4 : hash[index / 2] & 15
      if (nibble >= 8) != (byte & 0x20 == 0) { return nil }
    }
    return start..<start + 42
  }

  // MARK: - MAC addresses

  /// Matches six pairs of hexadecimal digits with colons or hyphens, or three groups of four with dots.
  func macAddress(at start: Int) -> Range<Int>? {
    let before = self[start - 1]
    if before == UInt8(ascii: ":") || before == UInt8(ascii: "-") || before == UInt8(ascii: "."),
      isAlphanumeric(start - 2)
    {
      return nil
    }
    return macAddress(at: start, groups: 6, of: 2) ?? macAddress(at: start, groups: 3, of: 4)
  }

  private func macAddress(at start: Int, groups: Int, of size: Int) -> Range<Int>? {
    let separator = self[start + size]
    let isKnown =
      size == 4
      ? separator == UInt8(ascii: ".") : separator == UInt8(ascii: ":") || separator == UInt8(ascii: "-")
    guard isKnown else { return nil }
    var position = start
    for group in 0..<groups {
      if group > 0 {
        guard self[position] == separator else { return nil }
        position += 1
      }
      for _ in 0..<size {
        guard isHexDigit(position) else { return nil }
        position += 1
      }
    }
    let isLonger = isWordByte(position) || self[position] == separator && isAlphanumeric(position + 1)
    return isLonger ? nil : start..<position
  }
}
