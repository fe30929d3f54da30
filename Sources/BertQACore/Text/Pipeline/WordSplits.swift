/// A short word as three numbers that compare at once.
struct WordKey: BitwiseCopyable {
  /// Bytes of the longest word that has a key.
  static var capacity: Int { 24 }

  var words: (UInt64, UInt64, UInt64)
  /// Bytes of the word, and above them the mode.
  var tag: UInt8

  /// Nil for a longer word. 15 bytes behind the word are readable.
  /// - Parameter mode: 0 or 1; words of different modes are different.
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
    tag = UInt8(truncatingIfNeeded: count) | mode &<< 7
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

/// The splits of words seen lately: most words of a text are not new. Each word has one place, where it replaces the
/// word that was there. It changes nothing but the time, and belongs to the memory of one text at a time.
final class WordSplits {
  /// 64 bytes.
  private struct Entry: BitwiseCopyable {
    static var capacity: Int { 7 }

    var key: (UInt64, UInt64, UInt64) = (0, 0, 0)
    /// Ids of the pieces.
    var ids: (Int32, Int32, Int32, Int32, Int32, Int32, Int32) = (0, 0, 0, 0, 0, 0, 0)
    /// Where each piece ends, counted from the word's beginning.
    var ends: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0, 0, 0)
    /// 0 where there is no word.
    var count: UInt8 = 0
    var tag: UInt8 = 0
  }

  private static var entryCount: Int { 8192 }

  private let entries: AlignedBuffer<Entry>

  init() throws(BertQAError) { entries = try AlignedBuffer(repeating: Entry(), count: Self.entryCount) }

  @inline(__always)
  private func place(_ key: borrowing WordKey) -> UnsafeMutablePointer<Entry> {
    entries.base + Int(truncatingIfNeeded: key.hash &>> 51)
  }

  /// Appends the pieces of a word that begins at `begin`, if they are known.
  @inline(__always)
  func append(_ key: WordKey, at begin: Int, to output: inout TokenOutput) throws(BertQAError) -> Bool {
    let entry = place(key)
    guard entry.pointee.count > 0, entry.pointee.tag == key.tag, entry.pointee.key == key.words else {
      return false
    }
    let ids = UnsafeRawPointer(entry).advanced(by: 24).assumingMemoryBound(to: Int32.self)
    let ends = UnsafeRawPointer(entry).advanced(by: 52).assumingMemoryBound(to: UInt8.self)
    var start = begin
    for index in 0..<Int(entry.pointee.count) {
      let end = begin &+ Int(ends[index])
      try output.append(ids[index], start, end)
      start = end
    }
    return true
  }

  /// Keeps the `count` pieces of a word, if they are few and one begins where the one before ends.
  ///
  /// - Parameter piece: the id and the range of each, counted as `begin` is.
  @inline(__always)
  func remember(
    _ key: WordKey, at begin: Int, count: Int, piece: (Int) -> (id: Int32, begin: Int, end: Int)
  ) {
    guard count <= Entry.capacity else { return }
    let entry = place(key)
    entry.pointee.count = 0
    let ids = UnsafeMutableRawPointer(entry).advanced(by: 24).assumingMemoryBound(to: Int32.self)
    let ends = UnsafeMutableRawPointer(entry).advanced(by: 52).assumingMemoryBound(to: UInt8.self)
    var start = begin
    for index in 0..<count {
      let piece = piece(index)
      guard piece.begin == start else { return }
      ids[index] = piece.id
      ends[index] = UInt8(truncatingIfNeeded: piece.end &- begin)
      start = piece.end
    }
    entry.pointee.key = key.words
    entry.pointee.tag = key.tag
    entry.pointee.count = UInt8(truncatingIfNeeded: count)
  }
}
