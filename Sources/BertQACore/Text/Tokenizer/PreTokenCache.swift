import CBertQA

/// A worker that splits each pre-token regardless of its neighbours, so that splits can be cached.
protocol CachingWorker: TokenWorker {
  /// The pre-tokens that are one piece in every mode; nil if none are known in advance.
  var wholePreTokens: ShortPieceTable? { get }

  /// The cache of this worker.
  var cache: PreTokenCache { get }

  /// Finds the pieces of a pre-token, which are valid until the next call. 16 bytes after it are readable.
  /// - Parameters:
  ///   - mark: a character that the model reads before the pre-token.
  ///   - parsesSpecialTokens: true if pieces that spell special tokens are allowed.
  func split(
    _ preToken: UnsafePointer<UInt8>, count: Int, _ mark: PreTokenPrefix?, parsesSpecialTokens: Bool,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> PreTokenSplit
}

/// The pieces of a pre-token, with ranges from its beginning as the model reads it: with the mark, if there is one.
struct PreTokenSplit {
  let count: Int
  private let ids: UnsafePointer<Int32>
  private let begins: UnsafePointer<Int32>
  private let ends: UnsafePointer<Int32>
  /// The distance from one piece's number to the next one's.
  private let stride: Int

  /// Each piece begins where the one before ends.
  /// - Parameter starts: of the pieces and, after them, of what would come next.
  init(_ ids: UnsafePointer<Int32>, starts: UnsafePointer<Int32>, count: Int) {
    self.count = count
    self.ids = ids
    begins = starts
    ends = starts + 1
    stride = 1
  }

  init(_ pieces: UnsafePointer<PlacedPiece>, count: Int) {
    self.count = count
    // The id, beginning and end of each piece.
    ids = UnsafeRawPointer(pieces).assumingMemoryBound(to: Int32.self)
    begins = ids + 1
    ends = ids + 2
    stride = 3
  }

  @inline(__always) func id(_ index: Int) -> Int32 { ids[index &* stride] }
  @inline(__always) func begin(_ index: Int) -> Int { Int(begins[index &* stride]) }
  @inline(__always) func end(_ index: Int) -> Int { Int(ends[index &* stride]) }

  fileprivate func append(at place: PreTokenPlace, to output: inout TokenOutput) throws(BertQAError) {
    for index in 0..<count {
      try output.append(id(index), place.start(begin(index)), place.end(end(index)))
    }
  }
}

extension CachingWorker {
  /// The tables are larger than a core's cache: what the pre-token after this many others needs is loaded ahead.
  private static var lookahead: Int { 3 }

  /// Appends the tokens of the pre-tokens. Those of recent ones come from the cache.
  @inline(__always)
  func tokenizePreTokens(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError)
  {
    let text = UnsafePointer(preTokens.text.base)
    let ranges = UnsafePointer(preTokens.ranges.base)
    let rangeCount = preTokens.ranges.count
    let mark = preTokens.mark
    let markSize = mark?.size ?? 0
    let parses = output.parsesSpecialTokens
    let mode: UInt8 = (parses ? 1 : 0) | (markSize > 0 ? 2 : 0)
    let long = cache
    let short = long.short
    let wholePreTokens = wholePreTokens
    var index = 0
    while index < rangeCount {
      let ahead = index &+ Self.lookahead
      if ahead < rangeCount {
        let (begin, end) = (Int(ranges[ahead].start), Int(ranges[ahead].end))
        if let wholePreTokens, end &- begin <= PieceKey.maximumCount {
          wholePreTokens.prefetch(PieceKey(loading: text + begin).prefix(end &- begin, continuation: 0))
        } else {
          let core = markSize > 0 && text[begin] == 0x20 ? begin &+ 1 : begin
          if end &- core <= ShortPreTokenKey.capacity {
            short.prefetch(ShortPreTokenKey(text + core, count: end &- core, mode: mode))
          }
        }
      }
      let (begin, end) = (Int(ranges[index].start), Int(ranges[index].end))
      index &+= 1
      if let wholePreTokens, end &- begin <= PieceKey.maximumCount {
        let key = PieceKey(loading: text + begin).prefix(end &- begin, continuation: 0)
        let id = wholePreTokens.id(of: key)
        if id >= 0 {
          try output.append(id, begin, end)
          continue
        }
      }
      // The mark replaces a space.
      let core = markSize > 0 && text[begin] == 0x20 ? begin &+ 1 : begin
      let preToken = text + core
      let count = end &- core
      let place = PreTokenPlace(at: begin, core: core, markSize: markSize)
      if count <= ShortPreTokenKey.capacity {
        let key = ShortPreTokenKey(preToken, count: count, mode: mode)
        if try short.append(key, at: place, to: &output) { continue }
        let pieces = try split(preToken, count: count, mark, parsesSpecialTokens: parses, output.monitor)
        try pieces.append(at: place, to: &output)
        short.remember(key, pieces)
      } else if count &+ markSize <= PreTokenCache.longLimit {
        let key = LongPreTokenKey(preToken, count: count, mode: mode)
        if try long.append(key, at: place, to: &output) { continue }
        let pieces = try split(preToken, count: count, mark, parsesSpecialTokens: parses, output.monitor)
        try pieces.append(at: place, to: &output)
        try long.remember(key, pieces)
      } else {
        try split(preToken, count: count, mark, parsesSpecialTokens: parses, output.monitor)
          .append(at: place, to: &output)
      }
    }
  }
}

/// The place of a pre-token in the normalised text.
struct PreTokenPlace: BitwiseCopyable {
  /// Its first byte in the text: the one that the mark replaces or precedes.
  private let begin: Int
  /// The distance from a byte of the pre-token to its place in the text, for bytes after the mark.
  private let shift: Int
  /// Bytes of the mark.
  private let markSize: Int

  /// A pre-token that consists of a mark of `markSize` bytes and the text from `core` on, which is `begin` or one
  /// byte after it.
  @inline(__always)
  init(at begin: Int, core: Int, markSize: Int) {
    self.begin = begin
    shift = core &- markSize
    self.markSize = markSize
  }

  @inline(__always)
  func start(_ offset: Int) -> Int { offset == 0 ? begin : offset &+ shift }

  /// Returns the end of a piece that is not empty. The mark has the range of the character at `begin`.
  @inline(__always)
  func end(_ offset: Int) -> Int { offset <= markSize ? begin &+ 1 : offset &+ shift }
}

/// A cache of the splits of recent pre-tokens: most of a text's pre-tokens are not new. It affects only the time, and
/// belongs to one worker.
///
/// Short pre-tokens of few pieces are in a table. Longer ones follow each other in memory of fixed size, which is
/// emptied when it is full. An entry there, in units of 8 bytes: the hash; bytes, pieces and mode; the pre-token,
/// padded with zeros; ids of the pieces; the end of each piece, from the beginning of the pre-token.
final class PreTokenCache {
  /// A short pre-token has two adjacent places.
  private let entries: AlignedBuffer<ShortPreTokenEntry>
  private static var entryCount: Int { 16384 }

  /// The maximum bytes of a cached pre-token: the end of a piece is stored in a byte.
  static var longLimit: Int { 255 }
  /// A long pre-token has two adjacent slots.
  private static var slotBits: UInt64 { 13 }
  private static var slotCount: Int { 1 << Int(slotBits) }
  /// Units of all long entries. With the slots, 1 MiB.
  private static var capacity: Int { (1 << 17) - slotCount }
  /// Slots, then entries of long pre-tokens; allocated for the first one. A slot is half of the hash above the place
  /// of the entry, or 0 if empty; no entry has place 0.
  private var memory = AlignedBuffer<UInt64>()
  private var base: UnsafeMutablePointer<UInt64>?
  private var used = 1

  /// Valid as long as the cache.
  fileprivate var short: ShortPreTokens { ShortPreTokens(entries: entries.base) }

  init() throws(BertQAError) {
    entries = try AlignedBuffer(repeating: ShortPreTokenEntry(), count: Self.entryCount)
  }
}

// MARK: - Short pre-tokens

/// A pre-token of up to 24 bytes as three numbers that compare at once.
private struct ShortPreTokenKey: BitwiseCopyable {
  static var capacity: Int { 24 }

  var words: (UInt64, UInt64, UInt64)
  /// The number of bytes, and above it the mode.
  var tag: UInt8

  /// 16 bytes after the pre-token are readable.
  /// - Parameter mode: 0...3; pre-tokens of different modes are different.
  @inline(__always)
  init(_ preToken: UnsafePointer<UInt8>, count: Int, mode: UInt8) {
    words = (
      eightBytes(preToken, 0, count), eightBytes(preToken, 8, count),
      count > 16 ? eightBytes(preToken, 16, count) : 0
    )
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

/// Returns eight bytes of a pre-token from `index` on, the first lowest, and zeros after its end.
@inline(__always)
private func eightBytes(_ preToken: UnsafePointer<UInt8>, _ index: Int, _ count: Int) -> UInt64 {
  let bits = UInt64(truncatingIfNeeded: min(64, 8 &* max(0, count &- index)))
  let value = UnsafeRawPointer(preToken).loadUnaligned(fromByteOffset: index, as: UInt64.self)
  return UInt64(littleEndian: value) & ~(UInt64.max << bits)
}

/// 64 bytes.
private struct ShortPreTokenEntry: BitwiseCopyable {
  static var capacity: Int { 7 }
  static var idsOffset: Int { 24 }
  static var endsOffset: Int { 52 }

  var key: (UInt64, UInt64, UInt64) = (0, 0, 0)
  /// Ids of the pieces.
  var ids: (Int32, Int32, Int32, Int32, Int32, Int32, Int32) = (0, 0, 0, 0, 0, 0, 0)
  /// The end of each piece, from the beginning of the pre-token.
  var ends: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0, 0, 0)
  /// 0 if the entry is empty.
  var count: UInt8 = 0
  var tag: UInt8 = 0
}

/// The table of short pre-tokens, for inner loops.
private struct ShortPreTokens {
  let entries: UnsafeMutablePointer<ShortPreTokenEntry>

  /// Returns the first of the two places of a pre-token.
  @inline(__always)
  private func place(_ key: borrowing ShortPreTokenKey) -> UnsafeMutablePointer<ShortPreTokenEntry> {
    entries + Int(truncatingIfNeeded: key.hash &>> 51) &* 2
  }

  /// Loads the places of a pre-token.
  @inline(__always)
  func prefetch(_ key: ShortPreTokenKey) {
    let place = place(key)
    bq_prefetch(place)
    bq_prefetch(place + 1)
  }

  /// Appends the pieces of a pre-token, if they are cached.
  @inline(__always)
  func append(
    _ key: ShortPreTokenKey, at place: PreTokenPlace, to output: inout TokenOutput
  ) throws(BertQAError) -> Bool {
    var entry = self.place(key)
    if entry.pointee.tag != key.tag || entry.pointee.key != key.words || entry.pointee.count == 0 {
      entry += 1
      if entry.pointee.tag != key.tag || entry.pointee.key != key.words || entry.pointee.count == 0 {
        return false
      }
    }
    let ids = UnsafeRawPointer(entry).advanced(by: ShortPreTokenEntry.idsOffset)
      .assumingMemoryBound(to: Int32.self)
    let ends = UnsafeRawPointer(entry).advanced(by: ShortPreTokenEntry.endsOffset)
      .assumingMemoryBound(to: UInt8.self)
    var start = 0
    for index in 0..<Int(entry.pointee.count) {
      let end = Int(ends[index])
      try output.append(ids[index], place.start(start), place.end(end))
      start = end
    }
    return true
  }

  /// Caches the pieces of a pre-token, if they are few and each begins at the end of the one before.
  @inline(__always)
  func remember(_ key: ShortPreTokenKey, _ pieces: PreTokenSplit) {
    guard pieces.count <= ShortPreTokenEntry.capacity else { return }
    var entry = ShortPreTokenEntry()
    let isKept = withUnsafeMutableBytes(of: &entry) { bytes in
      var start = 0
      for index in 0..<pieces.count {
        guard pieces.begin(index) == start else { return false }
        start = pieces.end(index)
        bytes.storeBytes(
          of: pieces.id(index), toByteOffset: ShortPreTokenEntry.idsOffset &+ 4 &* index, as: Int32.self)
        bytes[ShortPreTokenEntry.endsOffset &+ index] = UInt8(truncatingIfNeeded: start)
      }
      return true
    }
    guard isKept else { return }
    entry.key = key.words
    entry.tag = key.tag
    entry.count = UInt8(truncatingIfNeeded: pieces.count)
    let place = self.place(key)
    place[1] = place[0]
    place[0] = entry
  }
}

// MARK: - Long pre-tokens

/// A pre-token of up to `PreTokenCache.longLimit` bytes and its hash; its memory must outlive the key.
private struct LongPreTokenKey {
  let preToken: UnsafePointer<UInt8>
  let count: Int
  let mode: UInt8
  let hash: UInt64

  /// 7 bytes after the pre-token are readable.
  @inline(__always)
  init(_ preToken: UnsafePointer<UInt8>, count: Int, mode: UInt8) {
    self.preToken = preToken
    self.count = count
    self.mode = mode
    var hash = (UInt64(truncatingIfNeeded: count) &<< 8 | UInt64(mode)) &* 0x9E37_79B9_7F4A_7C15
    var index = 0
    while index < count {
      hash = (hash ^ eightBytes(preToken, index, count)) &* 0x243F_6A88_85A3_08D3
      hash ^= hash &>> 29
      index &+= 8
    }
    self.hash = hash &* 0x9E37_79B9_7F4A_7C15
  }

  /// The size in units of 8 bytes.
  @inline(__always) var units: Int { (count &+ 7) &>> 3 }

  /// The second unit of an entry with `count` pieces.
  @inline(__always)
  func header(_ count: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: count) &<< 16 | UInt64(mode) &<< 8 | UInt64(truncatingIfNeeded: self.count)
  }

  @inline(__always)
  func isEqual(_ entry: UnsafeMutablePointer<UInt64>) -> Bool {
    guard entry[0] == hash, entry[1] & 0xFFFF == header(0) else { return false }
    for unit in 0..<units where entry[2 &+ unit] != eightBytes(preToken, 8 &* unit, count) { return false }
    return true
  }
}

extension PreTokenCache {
  @inline(__always)
  private static func slot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash &>> (64 &- slotBits)) & ~1 }

  /// Appends the pieces of a pre-token, if they are cached.
  @inline(__always)
  fileprivate func append(
    _ key: LongPreTokenKey, at place: PreTokenPlace, to output: inout TokenOutput
  ) throws(BertQAError) -> Bool {
    guard let base else { return false }
    let slots = base + Self.slot(key.hash)
    for way in 0..<2 {
      let slot = slots[way]
      if slot == 0 || slot &>> 32 != key.hash & 0xFFFF_FFFF { continue }
      let entry = base + Self.slotCount + Int(slot & 0xFFFF_FFFF)
      guard key.isEqual(entry) else { continue }
      let count = Int(truncatingIfNeeded: entry[1] &>> 16)
      let ids = UnsafeRawPointer(entry + 2 + key.units).assumingMemoryBound(to: Int32.self)
      let ends = UnsafeRawPointer(ids + count).assumingMemoryBound(to: UInt8.self)
      var start = 0
      for index in 0..<count {
        let end = Int(ends[index])
        try output.append(ids[index], place.start(start), place.end(end))
        start = end
      }
      return true
    }
    return false
  }

  /// Caches the pieces of a pre-token, if each begins at the end of the one before.
  @inline(__always)
  fileprivate func remember(_ key: LongPreTokenKey, _ pieces: PreTokenSplit) throws(BertQAError) {
    let count = pieces.count
    guard count <= Self.longLimit else { return }
    let units = 2 + key.units + (5 * count + 7) >> 3
    let base = try makeRoom(for: units)
    let entry = base + Self.slotCount + used
    let ids = UnsafeMutableRawPointer(entry + 2 + key.units).assumingMemoryBound(to: Int32.self)
    let ends = UnsafeMutableRawPointer(ids + count).assumingMemoryBound(to: UInt8.self)
    var start = 0
    for index in 0..<count {
      guard pieces.begin(index) == start else { return }
      start = pieces.end(index)
      ids[index] = pieces.id(index)
      ends[index] = UInt8(truncatingIfNeeded: start)
    }
    entry[0] = key.hash
    entry[1] = key.header(count)
    for unit in 0..<key.units { entry[2 + unit] = eightBytes(key.preToken, 8 * unit, key.count) }
    let slots = base + Self.slot(key.hash)
    slots[1] = slots[0]
    slots[0] = key.hash &<< 32 | UInt64(truncatingIfNeeded: used)
    used += units
  }

  private func makeRoom(for units: Int) throws(BertQAError) -> UnsafeMutablePointer<UInt64> {
    if let base, used + units <= Self.capacity { return base }
    if base == nil { memory = try AlignedBuffer(uninitializedCount: Self.slotCount + Self.capacity) }
    base = memory.base
    memory.base.initialize(repeating: 0, count: Self.slotCount)
    used = 1
    return memory.base
  }
}
