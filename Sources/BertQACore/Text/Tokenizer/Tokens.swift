/// Token ids and their byte ranges in the caller's text.
///
/// The three arrays have one element per token. Ranges are in text order; tokens of one expanded character share its
/// range.
public struct Tokens: Sendable, Equatable {
  public internal(set) var ids: [Int32] = []
  public internal(set) var starts: [UInt32] = []
  public internal(set) var ends: [UInt32] = []

  public var count: Int { ids.count }

  /// Makes room for `count` more tokens.
  mutating func makeRoom(for count: Int, _ monitor: CallMonitor?) throws(BertQAError) {
    try ids.makeRoom(for: count, monitor)
    try starts.makeRoom(for: count, monitor)
    try ends.makeRoom(for: count, monitor)
  }

  /// The bytes of the three arrays.
  var capacityBytes: Int {
    (ids.capacity + starts.capacity + ends.capacity) * MemoryLayout<Int32>.stride
  }

  /// Empties the arrays and keeps their memory for the next text.
  mutating func removeAll() {
    ids.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }
}
