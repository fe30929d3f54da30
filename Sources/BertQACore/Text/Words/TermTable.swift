import Glibc

/// Terms by id, in the order of insertion, and their ids by bytes: a hash table with open addressing. A term is a
/// word or a pair of words, whose bytes have a space between the words. Most words have up to eight bytes and are
/// found by their slot alone.
///
/// Not thread-safe while terms are inserted.
struct TermTable: ~Copyable {
  /// A word, or a pair if there is a second. Eight bytes after each must be readable.
  struct Key {
    var first: UnsafePointer<UInt8>
    var firstCount: Int
    var second: UnsafePointer<UInt8>?
    var secondCount = 0

    /// True if it does not fit into a slot.
    @inline(__always) fileprivate var isLong: Bool { second != nil || firstCount > 8 }

    @inline(__always) var isPair: Bool { second != nil }

    @inline(__always) fileprivate var byteCount: Int {
      second == nil ? firstCount : firstCount &+ 1 &+ secondCount
    }
  }

  /// The bytes of all terms, each followed by a NUL.
  private var bytes: GrowableBuffer<UInt8>
  /// The beginning of each term, and of the next one to come.
  private var begins: GrowableBuffer<Int>
  private var slots: GrowableBuffer<Slot>
  /// Accounts for memory that is allocated from now on, and releases all of it with the table.
  var ledger: MemoryLedger? {
    didSet {
      bytes.ledger = ledger
      begins.ledger = ledger
      slots.ledger = ledger
    }
  }
  private var mask = 0
  let hasher: WordHasher

  /// Not private: the compiler (6.3.1) fails on buffers of it then.
  struct Slot: BitwiseCopyable {
    /// The bytes of a word of up to eight, else its hash.
    var key: UInt64 = 0
    /// 0: empty.
    var idPlusOne: UInt32 = 0
    /// True if `key` is a hash.
    var isLong: UInt32 = 0
  }

  /// - Parameter ledger: told of the table's memory.
  init(_ ledger: MemoryLedger? = nil) {
    self.ledger = ledger
    bytes = GrowableBuffer(ledger)
    begins = GrowableBuffer(ledger)
    slots = GrowableBuffer(ledger)
    hasher = WordHasher()
  }

  private(set) var count = 0

  /// The bytes of its memory.
  var byteCount: Int { bytes.byteCount + begins.byteCount + slots.byteCount }

  /// Returns the bytes of a term, followed by a NUL. Valid until the next insertion.
  func term(_ id: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: bytes.base + begins[id], count: begins[id + 1] - begins[id] - 1)
  }

  /// True if a term's bytes come before another's, compared as numbers.
  func precedes(_ a: Int, _ b: Int) -> Bool {
    let (first, second) = (begins[a], begins[b])
    // With their NULs, so that a prefix comes first.
    let count = min(begins[a + 1] - first, begins[b + 1] - second)
    return memcmp(bytes.base + first, bytes.base + second, count) < 0
  }

  // MARK: Looking up

  /// Returns the id, or -1.
  @inline(__always)
  func id(of key: Key, hash: UInt64) -> Int {
    guard count > 0 else { return -1 }
    let isLong = key.isLong
    let wanted = isLong ? hash : WordHasher.lastBytes(key.first, key.firstCount)
    var slot = Int(truncatingIfNeeded: hash) & mask
    while true {
      let entry = slots[slot]
      if entry.idPlusOne == 0 { return -1 }
      if entry.key == wanted, (entry.isLong != 0) == isLong {
        let id = Int(entry.idPlusOne) &- 1
        if !isLong || isEqual(id, key) { return id }
      }
      slot = (slot &+ 1) & mask
    }
  }

  /// Returns the id of bytes from elsewhere, or -1.
  func id(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
    Self.padded(bytes).withUnsafeBufferPointer { padded in
      let key = Self.key(padded, byteCount: bytes.count)
      return id(of: key, hash: hash(key))
    }
  }

  private func hash(_ key: Key) -> UInt64 {
    let first = hasher.hash(key.first, key.firstCount)
    return key.second.map { hasher.hash(first, hasher.hash($0, key.secondCount)) } ?? first
  }

  /// A copy after which eight bytes may be read.
  private static func padded(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    Array(bytes) + [UInt8](repeating: 0, count: 8)
  }

  private static func key(_ padded: UnsafeBufferPointer<UInt8>, byteCount: Int) -> Key {
    // It has eight bytes at least.
    let base = padded.baseAddress.unsafelyUnwrapped
    guard let space = padded[..<byteCount].firstIndex(of: UInt8(ascii: " ")) else {
      return Key(first: base, firstCount: byteCount)
    }
    return Key(
      first: base, firstCount: space, second: base + space + 1, secondCount: byteCount - space - 1)
  }

  @inline(__always)
  private func isEqual(_ id: Int, _ key: Key) -> Bool {
    let begin = begins[id]
    guard begins[id &+ 1] &- begin &- 1 == key.byteCount else { return false }
    let stored = bytes.base + begin
    guard Self.isEqual(stored, key.first, key.firstCount) else { return false }
    guard let second = key.second else { return true }
    return stored[key.firstCount] == UInt8(ascii: " ")
      && Self.isEqual(stored + (key.firstCount &+ 1), second, key.secondCount)
  }

  @inline(__always)
  private static func isEqual(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int
  ) -> Bool {
    let (a, b) = (UnsafeRawPointer(a), UnsafeRawPointer(b))
    var offset = 0
    while count &- offset > 8 {
      let blocks = (
        a.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
        b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
      guard blocks.0 == blocks.1 else { return false }
      offset &+= 8
    }
    return WordHasher.lastBytes(a + offset, count &- offset)
      == WordHasher.lastBytes(b + offset, count &- offset)
  }

  // MARK: Insertion

  /// Returns the id of the term; a new one, `count`, if it has none yet.
  mutating func insert(_ key: Key, hash: UInt64) throws(BertQAError) -> Int {
    let found = id(of: key, hash: hash)
    if found >= 0 { return found }
    let id = count
    guard id < Int(UInt32.max) - 1 else {
      throw BertQAError(.tooLarge, "a vocabulary has more than \(UInt32.max) terms")
    }
    // A failed insertion may have left bytes.
    bytes.truncate(to: id == 0 ? 0 : begins[id])
    begins.truncate(to: id == 0 ? 0 : id + 1)
    // With a NUL and what comparisons may read.
    try bytes.makeRoom(for: key.byteCount + 9)
    try bytes.append(key.first, count: key.firstCount)
    if let second = key.second {
      try bytes.append(UInt8(ascii: " "))
      try bytes.append(second, count: key.secondCount)
    }
    try bytes.append(0)
    if id == 0 { try begins.append(0) }
    try begins.append(bytes.count)
    if 3 * (id + 1) > 2 * slots.count { try enlarge() }
    count += 1
    let entry = Slot(
      key: key.isLong ? hash : WordHasher.lastBytes(key.first, key.firstCount), idPlusOne: UInt32(id + 1),
      isLong: key.isLong ? 1 : 0)
    Self.place(entry, hash: hash, in: slots.base, mask)
    return id
  }

  /// The same for bytes from elsewhere.
  mutating func insert(_ term: UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Int {
    let padded = Self.padded(term)
    return try padded.withElements { padded throws(BertQAError) in
      let key = Self.key(padded, byteCount: term.count)
      return try insert(key, hash: hash(key))
    }
  }

  private mutating func enlarge() throws(BertQAError) {
    let larger = try GrowableBuffer<Slot>(repeating: Slot(), count: max(1024, 2 * slots.count), ledger)
    mask = larger.count - 1
    for entry in slots.elements where entry.idPlusOne != 0 {
      let hash = entry.isLong != 0 ? entry.key : hasher.hash(short: entry.key)
      Self.place(entry, hash: hash, in: larger.base, mask)
    }
    slots = larger
  }

  private static func place(
    _ entry: Slot, hash: UInt64, in slots: UnsafeMutablePointer<Slot>, _ mask: Int
  ) {
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot].idPlusOne != 0 { slot = (slot &+ 1) & mask }
    slots[slot] = entry
  }
}
