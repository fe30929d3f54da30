/// The compiled normalisation rules of a SentencePiece model: a trie of byte strings in a double array (Darts, one
/// 32-bit number a node), and the texts they are replaced by.
///
/// Layout: bytes of the trie (32 bits, little-endian), the trie, the replacements, each ended by a NUL.
final class CharacterMap: @unchecked Sendable {
  // Unchecked: written in init only.

  private let nodes: AlignedBuffer<UInt32>
  private let nodeCount: Int
  /// Valid UTF-8.
  private let replacements: AlignedBuffer<UInt8>
  private let replacementCount: Int

  init(_ bytes: UnsafeRawBufferPointer) throws(BertQAError) {
    guard bytes.count >= 4 else { throw Self.error("it has \(bytes.count) bytes, at least 4 are needed") }
    let size = Int(UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)))
    guard size >= 4, size % 4 == 0, size <= bytes.count - 4 else {
      throw Self.error("its trie has \(size) bytes, of \(bytes.count - 4) that follow")
    }
    nodeCount = size / 4
    nodes = try AlignedBuffer(uninitializedCount: nodeCount)
    for index in 0..<nodeCount {
      nodes[index] = UInt32(
        littleEndian: bytes.loadUnaligned(fromByteOffset: 4 + 4 * index, as: UInt32.self))
    }
    let texts = UnsafeRawBufferPointer(rebasing: bytes[(4 + size)...])
    replacementCount = texts.count
    replacements = try AlignedBuffer(uninitializedCount: texts.count)
    if let source = texts.baseAddress {
      UnsafeMutableRawPointer(replacements.base).copyMemory(from: source, byteCount: texts.count)
    }
    guard UTF8Codec.isValid(UnsafeBufferPointer(start: replacements.base, count: replacementCount)) else {
      throw Self.error("its replacements are not valid UTF-8")
    }
  }

  /// True if a rule matches the beginning of the character's bytes.
  func hasRule(for scalar: UInt32) -> Bool {
    let (bytes, count) = UTF8Codec.encode(scalar)
    var text = bytes.littleEndian
    return withUnsafeBytes(of: &text) { text in
      replacement(of: UnsafeBufferPointer(rebasing: text.bindMemory(to: UInt8.self)[..<count])) != nil
    }
  }

  private static func error(_ what: String) -> BertQAError {
    BertQAError(.invalidModel, "precompiled_charsmap is malformed: \(what)")
  }

  /// Returns the replacement of a text whose shortest prefix with a rule is `text` or part of it; nil if there is
  /// none. Hugging Face's implementation replaces the whole text, too.
  func replacement(of text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
    var place = Self.offset(nodes[0])
    for byte in text {
      place ^= Int(byte)
      guard byte != 0, place < nodeCount, nodes[place] & 0x8000_00FF == UInt32(byte) else { return nil }
      let node = nodes[place]
      place ^= Self.offset(node)
      if node & 0x100 != 0 {
        return place < nodeCount ? replacement(at: Int(nodes[place] & 0x7FFF_FFFF)) : nil
      }
    }
    return nil
  }

  private static func offset(_ node: UInt32) -> Int { Int(node >> 10) << Int((node & 0x200) >> 6) }

  private func replacement(at begin: Int) -> UnsafeBufferPointer<UInt8>? {
    // A rule that points to the middle of a character is ignored.
    guard begin <= replacementCount, begin == replacementCount || replacements[begin] & 0xC0 != 0x80 else {
      return nil
    }
    var end = begin
    while end < replacementCount, replacements[end] != 0 { end += 1 }
    return UnsafeBufferPointer(start: replacements.base + begin, count: end - begin)
  }
}

extension CharacterMap {
  /// Reads the rules as `tokenizer.json` spells them, in base64.
  static func decode(base64 text: String) throws(BertQAError) -> CharacterMap {
    guard let bytes = decoded(base64: text) else { throw error("it is not base64") }
    return try bytes.withElements { bytes throws(BertQAError) in
      try CharacterMap(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Decodes RFC 4648 with padding; nil for anything else.
  private static func decoded(base64 text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { text -> [UInt8]? in
      guard text.count % 4 == 0 else { return nil }
      let padding = text.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count / 4 * 3)
      var bits: UInt32 = 0
      for index in 0..<text.count - padding {
        guard let value = value(of: text[index]) else { return nil }
        bits = bits << 6 | value
        if index % 4 == 3 {
          bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
          bits = 0
        }
      }
      // The rest of a group is padded with zero bits, which must be zero in the text as well.
      switch padding {
      case 1:
        guard bits & 3 == 0 else { return nil }
        bytes += [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
      case 2:
        guard bits & 15 == 0 else { return nil }
        bytes.append(UInt8(bits >> 4 & 0xFF))
      default: break
      }
      return bytes
    }
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 97 + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) - 48 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
