/// Tokens not yet moved to a `Tokens`, in memory of fixed size. A value of pointers and a count, so
/// that a loop can keep it in registers.
struct PendingTokens {
  /// 6 KiB of the caller's stack, of which a thread may have 32.
  static var capacity: Int { 512 }

  let ids: UnsafeMutablePointer<Int32>
  let starts: UnsafeMutablePointer<UInt32>
  let ends: UnsafeMutablePointer<UInt32>
  var count = 0

  /// Whether there may be no room for the tokens of one word and of a character after it.
  @inline(__always) var isFull: Bool {
    count > Self.capacity &- PieceIndex.maximumWordCharacters &- 2
  }

  /// Writes one token; there must be room.
  @inline(__always)
  mutating func append(_ id: Int32, start: Int, end: Int) {
    ids[count] = id
    starts[count] = UInt32(truncatingIfNeeded: start)
    ends[count] = UInt32(truncatingIfNeeded: end)
    count &+= 1
  }
}
