/// A queue of merges, the lowest rank first and of equal ones the leftmost: a binary heap.
struct MergeQueue: ~Copyable {
  /// Rank in the high half, position in the low one.
  private var keys = GrowableBuffer<UInt64>()

  mutating func removeAll() { keys.truncate(to: 0) }

  private static func key(_ rank: Int32, _ position: Int) -> UInt64 {
    UInt64(UInt32(bitPattern: rank)) << 32 | UInt64(truncatingIfNeeded: position)
  }

  /// Appends without order; call `makeHeap` afterwards.
  mutating func append(_ rank: Int32, _ position: Int) throws(BertQAError) {
    try keys.append(Self.key(rank, position))
  }

  mutating func makeHeap(_ monitor: CallMonitor?) throws(BertQAError) {
    for index in stride(from: keys.count / 2 - 1, through: 0, by: -1) {
      sink(keys[index], from: index)
      if index % CallPoll.elementInterval == 0 { try monitor?.check() }
    }
  }

  mutating func push(_ rank: Int32, _ position: Int) throws(BertQAError) {
    let key = Self.key(rank, position)
    try keys.append(key)
    var index = keys.count - 1
    while index > 0, keys[(index - 1) / 2] > key {
      keys[index] = keys[(index - 1) / 2]
      index = (index - 1) / 2
    }
    keys[index] = key
  }

  mutating func popLeast() -> (rank: Int32, position: Int)? {
    guard keys.count > 0 else { return nil }
    let least = keys[0]
    let last = keys[keys.count - 1]
    keys.truncate(to: keys.count - 1)
    if keys.count > 0 { sink(last, from: 0) }
    return (Int32(truncatingIfNeeded: least >> 32), Int(least & 0xFFFF_FFFF))
  }

  /// Moves `key` from `index` down to its place.
  private func sink(_ key: UInt64, from index: Int) {
    var index = index
    while true {
      var child = 2 * index + 1
      guard child < keys.count else { break }
      if child + 1 < keys.count, keys[child + 1] < keys[child] { child += 1 }
      guard keys[child] < key else { break }
      keys[index] = keys[child]
      index = child
    }
    keys[index] = key
  }
}
