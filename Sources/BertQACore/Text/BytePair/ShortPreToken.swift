/// Merges the symbols of a short pre-token: finds the least rank again and again, eight at a time. A value of
/// pointers, so that loops do not count references; `Memory` and the model own what they point to.
struct ShortPreToken {
  /// The maximum number of symbols: their positions have 7 bits.
  static var limit: Int { 128 }
  private static var positionBits: Int32 { 7 }

  /// Memory for one pre-token at a time.
  struct Memory: ~Copyable {
    fileprivate let numbers: AlignedBuffer<Int32>
    fileprivate let links: AlignedBuffer<UInt8>

    init() throws(BertQAError) {
      let numbers = try AlignedBuffer(repeating: MergeTable.none, count: 3 * (limit + 8))
      let links = try AlignedBuffer<UInt8>(repeating: 0, count: 2 * (limit + 1))
      self.numbers = numbers
      self.links = links
    }
  }

  /// The pieces of the last pre-token.
  let ids: UnsafeMutablePointer<Int32>
  /// The beginning of each in the pre-token, followed by the end of the last.
  let starts: UnsafeMutablePointer<Int32>
  /// For each symbol, the rank of its merge with the next one, above its position.
  private let keys: UnsafeMutablePointer<Int32>
  private let following: UnsafeMutablePointer<UInt8>
  private let preceding: UnsafeMutablePointer<UInt8>
  private let merges: MergeTable.Lookup
  /// The symbols of bytes, and the ranks of adjacent ones: see `SymbolTable`.
  private let symbols: UnsafeMutablePointer<Int32>
  private let ranks: UnsafeMutablePointer<Int32>
  private let characters: CharacterPieces.Lookup?

  init(_ memory: borrowing Memory, _ model: BytePairModel) {
    let stride = Self.limit + 8
    keys = memory.numbers.base
    ids = keys + stride
    starts = ids + stride
    following = memory.links.base
    preceding = following + Self.limit + 1
    merges = model.merges.lookup
    symbols = model.symbols.ids.base
    ranks = model.symbols.ranks.base
    characters = model.symbols.wholeCharacters?.lookup
  }

  @inline(__always)
  private static func key(_ rank: Int32, _ position: Int) -> Int32 {
    rank == MergeTable.none ? rank : rank &<< positionBits | Int32(truncatingIfNeeded: position)
  }

  /// Splits a pre-token of `size` bytes, at most `limit`; 7 more are readable. Returns the number of pieces.
  @inline(__always)
  func cut(_ preToken: UnsafePointer<UInt8>, _ size: Int) throws(BertQAError) -> Int {
    if ByteScan.endOfASCII(in: preToken, from: 0, to: size) < size {
      return try cutCharacters(preToken, size)
    }
    var index = 0
    while index < size {
      ids[index] = symbols[Int(preToken[index])]
      starts[index] = Int32(truncatingIfNeeded: index)
      // The last rank belongs to the byte behind the pre-token; merging drops it.
      keys[index] = Self.key(ranks[Int(preToken[index]) &<< 8 | Int(preToken[index &+ 1])], index)
      index &+= 1
    }
    starts[size] = Int32(truncatingIfNeeded: size)
    return mergeKeyed(ids, starts, size)
  }

  /// Splits a pre-token with characters outside ASCII.
  @inline(never)
  private func cutCharacters(_ preToken: UnsafePointer<UInt8>, _ size: Int) throws(BertQAError) -> Int {
    let count = try read(preToken, size, ids, starts, nil)
    var index = 0
    while index &+ 1 < count {
      let isBytes = starts[index &+ 2] &- starts[index] == 2
      let first = Int(starts[index])
      keys[index] = Self.key(
        isBytes
          ? ranks[Int(preToken[first]) &<< 8 | Int(preToken[first &+ 1])]
          : merges.rank(ids[index], ids[index &+ 1]),
        index)
      index &+= 1
    }
    return mergeKeyed(ids, starts, count)
  }

  /// Writes the symbols of a pre-token: bytes, or whole characters if that is equivalent. Returns their number.
  func read(
    _ preToken: UnsafePointer<UInt8>, _ size: Int, _ ids: UnsafeMutablePointer<Int32>,
    _ starts: UnsafeMutablePointer<Int32>, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    guard let characters else { return 0 }
    return try characters.read(preToken, size, bytes: symbols, ids, starts, monitor)
  }

  /// Returns a pre-token of `size` bytes as one piece.
  func whole(_ id: Int32, _ size: Int) -> PreTokenSplit {
    ids[0] = id
    starts[0] = 0
    starts[1] = Int32(truncatingIfNeeded: size)
    return PreTokenSplit(ids, starts: starts, count: 1)
  }

  /// Merges `count` symbols, at most `limit`, in place. Returns the number of pieces left.
  func merge(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, count: Int
  ) -> Int {
    for index in 0..<count &- 1 { keys[index] = Self.key(merges.rank(ids[index], ids[index &+ 1]), index) }
    return mergeKeyed(ids, starts, count)
  }

  private func mergeKeyed(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ count: Int
  ) -> Int {
    let (keys, following, preceding, merges) = (self.keys, self.following, self.preceding, self.merges)
    // Clears the keys up to the next multiple of eight, and the last symbol's, which has no next one.
    var index = count &- 1
    while index < (count &+ 7) & ~7 {
      keys[index] = MergeTable.none
      index &+= 1
    }
    index = 0
    while index < count {
      following[index] = UInt8(truncatingIfNeeded: index &+ 1)
      preceding[index &+ 1] = UInt8(truncatingIfNeeded: index)
      index &+= 1
    }
    while true {
      var least = SIMD8<Int32>(repeating: MergeTable.none)
      index = 0
      while index < count {
        let block = UnsafeRawPointer(keys + index).loadUnaligned(as: SIMD8<Int32>.self)
        least.replace(with: block, where: block .< least)
        index &+= 8
      }
      let key = least.min()
      if key == MergeTable.none { break }
      let position = Int(key & (1 &<< Self.positionBits &- 1))
      let piece = merges.result(key &>> Self.positionBits)
      ids[position] = piece
      let right = Int(following[position])
      keys[right] = MergeTable.none
      let after = Int(following[right])
      following[position] = UInt8(truncatingIfNeeded: after)
      preceding[after] = UInt8(truncatingIfNeeded: position)
      keys[position] =
        after < count ? Self.key(merges.rank(piece, ids[after]), position) : MergeTable.none
      if position > 0 {
        let before = Int(preceding[position])
        keys[before] = Self.key(merges.rank(ids[before], piece), before)
      }
    }
    var kept = 0
    index = 0
    while index < count {
      ids[kept] = ids[index]
      starts[kept] = starts[index]
      kept &+= 1
      index = Int(following[index])
    }
    starts[kept] = starts[count]
    return kept
  }
}
