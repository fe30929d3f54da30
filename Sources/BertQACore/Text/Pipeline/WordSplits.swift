/// The splits of words seen lately: most words of a text are not new. It changes nothing but the time, and belongs to
/// the memory of one text at a time.
///
/// Short words have an entry of their own in a table; longer ones are with `LongWordSplits`.
final class WordSplits {
  private let entries: AlignedBuffer<Entry>
  private let long: LongWordSplits

  /// 64 bytes.
  fileprivate struct Entry: BitwiseCopyable {
    static var capacity: Int { 7 }
    static var idsOffset: Int { 24 }
    static var endsOffset: Int { 52 }

    var key: (UInt64, UInt64, UInt64) = (0, 0, 0)
    /// Ids of the pieces.
    var ids: (Int32, Int32, Int32, Int32, Int32, Int32, Int32) = (0, 0, 0, 0, 0, 0, 0)
    /// Where each piece ends, counted from the word's beginning.
    var ends: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0, 0, 0)
    /// 0 where there is no word.
    var count: UInt8 = 0
    var tag: UInt8 = 0
  }

  /// A word has two places side by side.
  private static var entryCount: Int { 16384 }

  init() throws(BertQAError) {
    entries = try AlignedBuffer(repeating: Entry(), count: Self.entryCount)
    long = LongWordSplits()
  }

  /// As loops have it; valid as long as the object.
  var lookup: Lookup { Lookup(entries: entries.base, long: long) }

  struct Lookup {
    fileprivate let entries: UnsafeMutablePointer<Entry>
    let long: LongWordSplits

    /// The first of the two places of a word.
    @inline(__always)
    fileprivate func place(_ key: borrowing WordKey) -> UnsafeMutablePointer<Entry> {
      entries + Int(truncatingIfNeeded: key.hash &>> 51) &* 2
    }
  }
}

extension WordSplits.Lookup {
  /// Appends the pieces of a word, if they are known.
  @inline(__always)
  func append(_ key: WordKey, at place: WordPlace, to output: inout TokenOutput) throws(BertQAError) -> Bool {
    var entry = self.place(key)
    if entry.pointee.tag != key.tag || entry.pointee.key != key.words || entry.pointee.count == 0 {
      entry += 1
      if entry.pointee.tag != key.tag || entry.pointee.key != key.words || entry.pointee.count == 0 {
        return false
      }
    }
    let ids = UnsafeRawPointer(entry).advanced(by: WordSplits.Entry.idsOffset)
      .assumingMemoryBound(to: Int32.self)
    let ends = UnsafeRawPointer(entry).advanced(by: WordSplits.Entry.endsOffset)
      .assumingMemoryBound(to: UInt8.self)
    var start = 0
    for index in 0..<Int(entry.pointee.count) {
      let end = Int(ends[index])
      try output.append(ids[index], place.start(start), place.end(end))
      start = end
    }
    return true
  }

  /// Keeps the `count` pieces of a word, if they are few and one begins where the one before ends.
  @inline(__always)
  func remember(_ key: WordKey, count: Int, piece: (Int) -> WordPiece) {
    guard count <= WordSplits.Entry.capacity else { return }
    var entry = WordSplits.Entry()
    let isKept = withUnsafeMutableBytes(of: &entry) { bytes in
      var start = 0
      for index in 0..<count {
        let piece = piece(index)
        guard piece.begin == start else { return false }
        bytes.storeBytes(
          of: piece.id, toByteOffset: WordSplits.Entry.idsOffset &+ 4 &* index, as: Int32.self)
        bytes[WordSplits.Entry.endsOffset &+ index] = UInt8(truncatingIfNeeded: piece.end)
        start = piece.end
      }
      return true
    }
    guard isKept else { return }
    entry.key = key.words
    entry.tag = key.tag
    entry.count = UInt8(truncatingIfNeeded: count)
    let place = self.place(key)
    place[1] = place[0]
    place[0] = entry
  }
}
