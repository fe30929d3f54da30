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
      let numbers = try AlignedBuffer(repeating: Merge.none.rank, count: 4 * (limit + 8))
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
  /// The piece that this merge makes: looked up together with the rank, long before it is needed.
  private let results: UnsafeMutablePointer<Int32>
  private let following: UnsafeMutablePointer<UInt8>
  private let preceding: UnsafeMutablePointer<UInt8>
  private let merges: MergeTable.Lookup
  /// The symbols of bytes, and the merges of adjacent ones: see `SymbolTable`.
  private let symbols: UnsafeMutablePointer<Int32>
  private let byteMerges: UnsafeMutablePointer<Merge>
  private let characters: CharacterPieces.Lookup?
  /// The pieces that their own bytes are merged to; nil if the model has others among `wholePreTokens`.
  private let wholePieces: ShortPieceTable?

  init(_ memory: borrowing Memory, _ model: BytePairModel) {
    let stride = Self.limit + 8
    keys = memory.numbers.base
    ids = keys + stride
    starts = ids + stride
    results = starts + stride
    following = memory.links.base
    preceding = following + Self.limit + 1
    merges = model.merges.lookup
    symbols = model.symbols.ids.base
    byteMerges = model.symbols.merges.base
    characters = model.symbols.wholeCharacters?.lookup
    wholePieces = model.settings.ignoresMerges ? nil : model.wholePreTokens.table
  }

  /// Notes the merge of a symbol with the next one.
  @inline(__always)
  private func set(_ merge: Merge, at position: Int) {
    if merge.exists {
      keys[position] = merge.rank &<< Self.positionBits | Int32(truncatingIfNeeded: position)
      results[position] = merge.result
    } else {
      keys[position] = merge.rank
    }
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
      // The last merge is with the byte after the pre-token; `mergeKeyed` drops it.
      set(byteMerges[Int(preToken[index]) &<< 8 | Int(preToken[index &+ 1])], at: index)
      index &+= 1
    }
    starts[size] = Int32(truncatingIfNeeded: size)
    return mergeKeyed(ids, starts, size)
  }

  /// Splits a pre-token with characters outside ASCII.
  @inline(never)
  private func cutCharacters(_ preToken: UnsafePointer<UInt8>, _ size: Int) throws(BertQAError) -> Int {
    let (ids, starts) = (self.ids, self.starts)
    let count = try read(preToken, size, ids, starts, nil)
    return try mergeRuns(ids, starts, count, nil) { begin, runCount in
      let start = Int(starts[begin])
      let runSize = Int(starts[begin &+ runCount]) &- start
      // Most runs of ideographs are one piece, but few runs of alphabetic letters are. A whole pre-token is not a
      // piece, or it would not have come here.
      if let wholePieces, runSize == 3 &* runCount, runSize <= PieceKey.maximumCount, runCount < count {
        let id = wholePieces.id(of: PieceKey(loading: preToken + start).prefix(runSize, continuation: 0))
        if id >= 0 {
          ids[begin] = id
          return 1
        }
      }
      return merge(ids + begin, starts + begin, count: runCount, preToken)
    }
  }

  /// Merges the `count` symbols of `read` in place. Returns the number of pieces left.
  /// - Parameter mergeRun: merges the given number of symbols from the given one on, at least three, in place, and
  ///   returns the number of pieces. Ids that are complements are of symbols as well.
  @inline(__always)
  func mergeRuns(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ count: Int,
    _ monitor: CallMonitor?, _ mergeRun: (Int, Int) throws(BertQAError) -> Int
  ) throws(BertQAError) -> Int {
    var kept = 0
    var begin = 0
    var poll = TextPoll(monitor)
    while begin < count {
      try poll.reach(begin)
      let first = ids[begin]
      if first >= 0 {
        ids[kept] = first
        starts[kept] = starts[begin]
        kept &+= 1
        begin &+= 1
        continue
      }
      let second = ids[begin &+ 1]
      if second >= 0 {
        let merge = merges.merge(~first, second)
        let start = starts[begin &+ 1]
        starts[kept] = starts[begin]
        if merge.exists {
          ids[kept] = merge.result
        } else {
          ids[kept] = ~first
          kept &+= 1
          ids[kept] = second
          starts[kept] = start
        }
        kept &+= 1
        begin &+= 2
        continue
      }
      var end = begin &+ 2
      while ids[end] < 0 { end &+= 1 }
      end &+= 1
      let pieceCount = try mergeRun(begin, end &- begin)
      if kept < begin {
        for index in 0..<pieceCount {
          ids[kept &+ index] = ids[begin &+ index]
          starts[kept &+ index] = starts[begin &+ index]
        }
      }
      kept &+= pieceCount
      begin = end
    }
    starts[kept] = starts[count]
    return kept
  }

  /// Writes the symbols of a pre-token: bytes, or whole characters if that is equivalent. Returns their number. The
  /// id of a symbol that may be joined to the next one is written as its complement.
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

  /// Merges `count` symbols, at most `limit`, in place. Returns the number of pieces left. Ids that are complements are
  /// of symbols as well.
  /// - Parameter preToken: what the symbols were read from, if they are bytes and whole characters.
  func merge(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, count: Int,
    _ preToken: UnsafePointer<UInt8>?
  ) -> Int {
    var id = ids[0]
    id ^= id &>> 31
    ids[0] = id
    for index in 0..<count &- 1 {
      var next = ids[index &+ 1]
      next ^= next &>> 31
      ids[index &+ 1] = next
      let first = Int(starts[index])
      if let preToken, Int(starts[index &+ 2]) &- first == 2 {
        set(byteMerges[Int(preToken[first]) &<< 8 | Int(preToken[first &+ 1])], at: index)
      } else {
        set(merges.merge(id, next), at: index)
      }
      id = next
    }
    return mergeKeyed(ids, starts, count)
  }

  private func mergeKeyed(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ count: Int
  ) -> Int {
    let (keys, following, preceding) = (self.keys, self.following, self.preceding)
    // Clears the keys up to the next multiple of eight, and the last symbol's, which has no next one.
    var index = count &- 1
    while index < (count &+ 7) & ~7 {
      keys[index] = Merge.none.rank
      index &+= 1
    }
    index = 0
    while index < count {
      following[index] = UInt8(truncatingIfNeeded: index &+ 1)
      preceding[index &+ 1] = UInt8(truncatingIfNeeded: index)
      index &+= 1
    }
    while true {
      var least = SIMD8<Int32>(repeating: Merge.none.rank)
      index = 0
      while index < count {
        let block = UnsafeRawPointer(keys + index).loadUnaligned(as: SIMD8<Int32>.self)
        least.replace(with: block, where: block .< least)
        index &+= 8
      }
      let key = least.min()
      if key == Merge.none.rank { break }
      let position = Int(key & (1 &<< Self.positionBits &- 1))
      let piece = results[position]
      ids[position] = piece
      let right = Int(following[position])
      keys[right] = Merge.none.rank
      let after = Int(following[right])
      following[position] = UInt8(truncatingIfNeeded: after)
      preceding[after] = UInt8(truncatingIfNeeded: position)
      set(after < count ? merges.merge(piece, ids[after]) : .none, at: position)
      if position > 0 {
        let before = Int(preceding[position])
        set(merges.merge(ids[before], piece), at: before)
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
