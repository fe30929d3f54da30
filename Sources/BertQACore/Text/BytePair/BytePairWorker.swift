/// Splits one pre-token at a time into the pieces of a `BytePairModel`, with memory that it keeps.
///
/// It merges few symbols by finding the least rank again and again, eight at a time, and many with a queue, in
/// O(symbols · log symbols).
final class BytePairWorker: CachingWorker {
  private let model: BytePairModel
  /// Symbols, then pieces.
  private var ids: UnsafeMutablePointer<Int32>
  /// The beginning of each in the pre-token, followed by the end of the last.
  private var starts: UnsafeMutablePointer<Int32>
  private var count = 0

  private let memory: ShortPreToken.Memory
  /// Merges few symbols, in place in `ids` and `starts`.
  private let short: ShortPreToken
  let cache: PreTokenCache
  /// The symbols, links and waiting merges of a long pre-token.
  private var longIDs = GrowableBuffer<Int32>()
  private var longStarts = GrowableBuffer<Int32>()
  private var next = GrowableBuffer<Int32>()
  private var previous = GrowableBuffer<Int32>()
  private var queue = MergeQueue()

  init(_ model: BytePairModel) throws(BertQAError) {
    self.model = model
    memory = try ShortPreToken.Memory()
    short = ShortPreToken(memory, model)
    cache = try PreTokenCache()
    ids = short.ids
    starts = short.starts
  }

  /// Splits a pre-token of `size` > 0 bytes; 16 bytes after it are readable. Long ones poll the monitor.
  private func encode(
    _ preToken: UnsafePointer<UInt8>, count size: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    // Ids and places; the kept memory of shorter ones is not counted.
    let heldBytes = size < CallPoll.textInterval ? 0 : size * 8
    try monitor?.hold(heldBytes)
    defer { monitor?.release(heldBytes) }
    try removeAll(roomFor: size)
    switch model.symbols.unit {
    case .bytes:
      count = try short.read(preToken, size, ids, starts, monitor)
      count = try short.mergeRuns(ids, starts, count, monitor) { (begin, count) throws(BertQAError) in
        try merge(ids + begin, starts + begin, count, preToken, monitor)
      }
    case .characters:
      try readCharacters(preToken, size, monitor)
      count = try merge(ids, starts, count, nil, monitor)
    case .affixed:
      try readAffixed(preToken, size, monitor)
      count = try merge(ids, starts, count, nil, monitor)
    }
  }

  /// Merges `count` symbols in place: see `ShortPreToken.merge`.
  private func merge(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ count: Int,
    _ preToken: UnsafePointer<UInt8>?, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    if count < 2 { return count }
    if count <= ShortPreToken.limit { return short.merge(ids, starts, count: count, preToken) }
    return try mergeLong(ids, starts, count, monitor)
  }
}

// MARK: - Pre-tokens

extension BytePairWorker {
  @inline(__always) var wholePreTokens: ShortPieceTable? { model.wholePreTokens.table }

  func tokenize(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError) {
    try tokenizePreTokens(preTokens, into: &output)
  }

  func split(
    _ preToken: UnsafePointer<UInt8>, count size: Int, _ mark: PreTokenPrefix?, parsesSpecialTokens: Bool,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> PreTokenSplit {
    // Shorter ones are among `wholePreTokens`.
    if model.settings.ignoresMerges, size > PieceKey.maximumCount,
      let id = model.piece(UnsafeBufferPointer(start: preToken, count: size))
    {
      return short.whole(id, size)
    }
    if model.symbols.unit == .bytes, size <= ShortPreToken.limit {
      return PreTokenSplit(short.ids, starts: short.starts, count: try short.cut(preToken, size))
    }
    try encode(preToken, count: size, monitor)
    return PreTokenSplit(ids, starts: starts, count: count)
  }
}

// MARK: - Many symbols

extension BytePairWorker {
  private func mergeLong(
    _ ids: UnsafeMutablePointer<Int32>, _ starts: UnsafeMutablePointer<Int32>, _ count: Int,
    _ monitor: CallMonitor?
  ) throws(BertQAError) -> Int {
    // Links, and two waiting merges for each symbol.
    let heldBytes = count * 24
    try monitor?.hold(heldBytes)
    defer { monitor?.release(heldBytes) }
    try next.reserve(count)
    try previous.reserve(count)
    queue.removeAll()
    let (next, previous) = (self.next.base, self.previous.base)
    let merges = model.merges.lookup
    ids[0] ^= ids[0] >> 31
    for index in 0..<count {
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
      next[index] = Int32(truncatingIfNeeded: index &+ 1)
      previous[index] = Int32(truncatingIfNeeded: index &- 1)
      if index &+ 1 < count {
        ids[index &+ 1] ^= ids[index &+ 1] >> 31
        try enqueue(index, merges.merge(ids[index], ids[index &+ 1]))
      }
    }
    try queue.makeHeap(monitor)
    var steps = 0
    while let (rank, position) = queue.popLeast() {
      steps &+= 1
      if steps % CallPoll.elementInterval == 0 { try monitor?.check() }
      // A symbol that was merged into the one before has id -1.
      let right = Int(next[position])
      guard ids[position] >= 0, right < count else { continue }
      let merge = merges.merge(ids[position], ids[right])
      guard merge.rank == rank else { continue }
      ids[position] = merge.result
      ids[right] = -1
      let after = Int(next[right])
      next[position] = Int32(truncatingIfNeeded: after)
      if after < count {
        previous[after] = Int32(truncatingIfNeeded: position)
        try push(position, merges.merge(ids[position], ids[after]))
      }
      let before = Int(previous[position])
      if before >= 0 { try push(before, merges.merge(ids[before], ids[position])) }
    }
    var kept = 0
    var index = 0
    while index < count {
      if kept % CallPoll.elementInterval == 0 { try monitor?.check() }
      ids[kept] = ids[index]
      starts[kept] = starts[index]
      kept &+= 1
      index = Int(next[index])
    }
    starts[kept] = starts[count]
    if self.next.capacity > Self.keptCapacity { try removeLinks(monitor) }
    return kept
  }

  /// Frees the memory of merging in parts: returning gigabytes to the system takes long.
  private func removeLinks(_ monitor: CallMonitor?) throws(BertQAError) {
    next = GrowableBuffer()
    try monitor?.check()
    previous = GrowableBuffer()
    try monitor?.check()
    queue = MergeQueue()
    try monitor?.check()
  }

  /// The maximum number of symbols whose links are kept for the next long pre-token.
  private static let keptCapacity = 1 << 20

  private func enqueue(_ position: Int, _ merge: Merge) throws(BertQAError) {
    if merge.exists { try queue.append(merge.rank, position) }
  }

  private func push(_ position: Int, _ merge: Merge) throws(BertQAError) {
    if merge.exists { try queue.push(merge.rank, position) }
  }
}

// MARK: - Symbols

extension BytePairWorker {
  private func removeAll(roomFor capacity: Int) throws(BertQAError) {
    count = 0
    try longIDs.reserve(capacity)
    try longStarts.reserve(capacity + 1)
    ids = longIDs.base
    starts = longStarts.base
    starts[0] = 0
  }

  /// Appends a symbol made from the next `size` bytes; there must be room.
  @inline(__always)
  private func append(_ id: Int32, size: Int) {
    ids[count] = id
    starts[count &+ 1] = starts[count] &+ Int32(truncatingIfNeeded: size)
    count &+= 1
  }

  private func readCharacters(
    _ preToken: UnsafePointer<UInt8>, _ size: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    var unknown = UnknownRun()
    var position = 0
    var poll = TextPoll(monitor)
    while position < size {
      try poll.reach(position)
      let decoded = UTF8Codec.decode(preToken, at: position, end: size)
      let id = model.symbols.characters[decoded.scalar]
      if id >= 0 {
        end(&unknown)
        append(id, size: decoded.size)
      } else {
        let bytes = UnsafeBufferPointer(start: preToken + position, count: decoded.size)
        appendUnknown(bytes, size: decoded.size, &unknown)
      }
      position &+= decoded.size
    }
    end(&unknown)
  }

  private func readAffixed(
    _ preToken: UnsafePointer<UInt8>, _ size: Int, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let settings = model.settings
    var unknown = UnknownRun()
    var position = 0
    var symbol: [UInt8] = []
    var poll = TextPoll(monitor)
    while position < size {
      try poll.reach(position)
      let decoded = UTF8Codec.decode(preToken, at: position, end: size)
      let bytes = UnsafeBufferPointer(start: preToken + position, count: decoded.size)
      symbol.removeAll(keepingCapacity: true)
      if position > 0 { symbol += settings.continuingPrefix }
      symbol += bytes
      position &+= decoded.size
      if position == size { symbol += settings.endOfWordSuffix }
      if let id = symbol.withUnsafeBufferPointer({ model.vocabulary.id(of: $0) }) {
        end(&unknown)
        append(id, size: decoded.size)
      } else {
        symbol.withUnsafeBufferPointer { appendUnknown($0, size: decoded.size, &unknown) }
      }
    }
    end(&unknown)
  }

  /// The bytes of unknown symbols that have not been appended yet.
  private struct UnknownRun {
    var size = 0
  }

  private func end(_ unknown: inout UnknownRun) {
    guard unknown.size > 0, let id = model.unknownID else { return }
    append(id, size: unknown.size)
    unknown.size = 0
  }

  /// Appends bytes, an unknown piece, or nothing. Bytes do not end a run of unknown symbols, which then follows them.
  private func appendUnknown(_ symbol: UnsafeBufferPointer<UInt8>, size: Int, _ unknown: inout UnknownRun) {
    if model.settings.fallsBackToBytes, symbol.allSatisfy({ model.byteFallback[Int($0)] >= 0 }) {
      for byte in symbol { append(model.byteFallback[Int(byte)], size: 1) }
      return
    }
    guard model.unknownID != nil else { return }
    if !model.settings.fusesUnknown { end(&unknown) }
    unknown.size += size
  }
}
