/// A short word as three numbers that compare at once.
struct WordKey: BitwiseCopyable {
  /// Bytes of the longest word that has a key.
  static var capacity: Int { 24 }

  var words: (UInt64, UInt64, UInt64)
  /// Bytes of the word, and above them the mode.
  var tag: UInt8

  /// Nil for a longer word. 16 bytes behind the word are readable.
  /// - Parameter mode: 0...3; words of different modes are different.
  @inline(__always)
  init?(_ word: UnsafePointer<UInt8>, count: Int, mode: UInt8) {
    guard count <= Self.capacity else { return nil }
    let raw = UnsafeRawPointer(word)
    func load(_ index: Int) -> UInt64 {
      let bits = UInt64(truncatingIfNeeded: min(64, 8 &* max(0, count &- 8 &* index)))
      let value = raw.loadUnaligned(fromByteOffset: 8 &* index, as: UInt64.self)
      return UInt64(littleEndian: value) & ~(UInt64.max << bits)
    }
    words = (load(0), load(1), count > 16 ? load(2) : 0)
    tag = UInt8(truncatingIfNeeded: count) | mode &<< 6
  }

  @inline(__always)
  var hash: UInt64 {
    // Odd numbers of 64 bits from the digits of pi; the upper half of the sum depends on all bits.
    let first = words.0 &* 0x243F_6A88_85A3_08D3
    let second = (words.1 ^ UInt64(tag)) &* 0x1319_8A2E_0370_7345
    let third = words.2 &* 0xA409_3822_299F_31D1
    let sum = first ^ second.byteSwapped ^ third
    return sum &* 0x9E37_79B9_7F4A_7C15
  }
}

/// A word of up to `LongWordSplits.limit` bytes and its hash.
struct LongWordKey {
  let word: UnsafePointer<UInt8>
  let count: Int
  let mode: UInt8
  let hash: UInt64

  /// 7 bytes behind the word are readable, and the word stays where it is as long as the key is used.
  @inline(__always)
  init(_ word: UnsafePointer<UInt8>, count: Int, mode: UInt8) {
    self.word = word
    self.count = count
    self.mode = mode
    var hash = (UInt64(truncatingIfNeeded: count) &<< 8 | UInt64(mode)) &* 0x9E37_79B9_7F4A_7C15
    var index = 0
    while index < count {
      hash = (hash ^ Self.load(word, index, count)) &* 0x243F_6A88_85A3_08D3
      hash ^= hash &>> 29
      index &+= 8
    }
    self.hash = hash &* 0x9E37_79B9_7F4A_7C15
  }

  /// Eight bytes from `index` on, zero behind the word.
  @inline(__always)
  static func load(_ word: UnsafePointer<UInt8>, _ index: Int, _ count: Int) -> UInt64 {
    let value = UnsafeRawPointer(word).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    let bits = UInt64(truncatingIfNeeded: min(64, 8 &* (count &- index)))
    return UInt64(littleEndian: value) & ~(UInt64.max << bits)
  }
}
