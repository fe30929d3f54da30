/// The features of one text and the number of occurrences of each. Reused from text to text.
final class WordCounts {
  /// [feature]; all 0 between texts.
  private var occurrences: GrowableBuffer<UInt32>
  /// The features that occur, in the order of their first occurrence.
  private(set) var features = GrowableBuffer<UInt32>()
  /// The number of distinct words in the text, including those that are not features.
  private(set) var distinctWords = 0
  private var others = HashSet()

  init(featureCount: Int) throws(BertQAError) {
    occurrences = try GrowableBuffer(repeating: 0, count: featureCount)
  }

  /// The number of occurrences of all features.
  var occurrenceCount: Int { features.elements.reduce(0) { $0 + Int(occurrences[Int($1)]) } }

  subscript(feature: UInt32) -> UInt32 { occurrences[Int(feature)] }

  /// Memory kept for the next text is no longer accounted for.
  func removeAll() {
    for feature in features.elements { occurrences[Int(feature)] = 0 }
    features.truncate(to: 0)
    distinctWords = 0
    others.removeAll()
  }

  /// Counts the terms of a text, after `removeAll`.
  func count(
    _ text: UnsafeBufferPointer<UInt8>, of model: WordCountModel, poll: CallPoll?
  ) throws(BertQAError) {
    try features.reserve(occurrences.count)
    let ledger = poll?.ledger
    var walk = model.walk(text, poll: poll)
    try walk.forEach { occurrence throws(BertQAError) in
      let id = model.table.id(of: occurrence.key, hash: occurrence.hash)
      if occurrence.key.isPair {
        if id >= 0 { _ = add(id) }
      } else if id >= 0 {
        if add(id) { distinctWords &+= 1 }
      } else if try others.insert(occurrence.hash, ledger) {
        distinctWords &+= 1
      }
    }
  }

  /// Returns true for the first occurrence.
  @inline(__always)
  private func add(_ id: Int) -> Bool {
    let count = occurrences[id]
    occurrences[id] = count &+ 1
    guard count == 0 else { return false }
    features.appendReserved(UInt32(truncatingIfNeeded: id))
    return true
  }
}

/// A set of hashes. Words with equal hashes count as one.
private struct HashSet: ~Copyable {
  private var slots = GrowableBuffer<UInt64>()
  private var count = 0
  private static let keptSlots = 1 << 16

  mutating func removeAll() {
    guard count > 0 else { return }
    // One long text must not slow down every later one.
    if slots.count > Self.keptSlots { slots = GrowableBuffer() }
    slots.elements.update(repeating: 0)
    count = 0
  }

  /// Returns true if the hash was new.
  @inline(__always)
  mutating func insert(_ hash: UInt64, _ ledger: MemoryLedger?) throws(BertQAError) -> Bool {
    if 2 * count >= slots.count { try enlarge(ledger) }
    // 0 marks an empty slot.
    let hash = hash == 0 ? 1 : hash
    var slot = Int(truncatingIfNeeded: hash) & (slots.count &- 1)
    while slots[slot] != 0 {
      if slots[slot] == hash { return false }
      slot = (slot &+ 1) & (slots.count &- 1)
    }
    slots[slot] = hash
    count &+= 1
    return true
  }

  @inline(never)
  private mutating func enlarge(_ ledger: MemoryLedger?) throws(BertQAError) {
    let wanted = max(256, 4 * slots.count)
    // The few that are kept from text to text belong to no call.
    let larger = try GrowableBuffer<UInt64>(
      repeating: 0, count: wanted, wanted > Self.keptSlots ? ledger : nil)
    for hash in slots.elements where hash != 0 {
      var slot = Int(truncatingIfNeeded: hash) & (larger.count - 1)
      while larger[slot] != 0 { slot = (slot + 1) & (larger.count - 1) }
      larger[slot] = hash
    }
    slots = larger
  }
}
