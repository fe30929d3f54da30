/// Each white space character: what `ClassPattern(.space)` finds, faster.
struct SpacePattern: SplitPattern {
  private let table = CharacterClass.table

  @inline(__always)
  func match(
    in text: UnsafePointer<UInt8>, start: Int, from position: Int, to end: Int, _ poll: inout TextPoll
  ) throws(BertQAError) -> (start: Int, end: Int)? {
    var position = position
    while position < end {
      let lane = ByteScan.firstLane(Self.mayBegin(ByteScan.block(text, position)))
      position &+= lane
      if lane == 16 {
        try poll.read(16)
        continue
      }
      if position >= end { return nil }
      if text[position] == 0x20 { return (position, position &+ 1) }
      let decoded = UTF8Codec.decode(text, at: position, end: end)
      let next = position &+ decoded.size
      if table[decoded.scalar].contains(.space) { return (position, next) }
      position = next
    }
    return nil
  }

  /// The bytes that white space begins with: up to U+0020, U+0085 and U+00A0 with 0xC2, all others with 0xE1 to 0xE3.
  @inline(__always)
  private static func mayBegin(_ block: ByteScan.Block) -> SIMDMask<SIMD16<Int8>> {
    let isControl = block .<= ByteScan.Block(repeating: 0x20)
    let isTwo = block .== ByteScan.Block(repeating: 0xC2)
    let isThree = (block &- ByteScan.Block(repeating: 0xE1)) .<= ByteScan.Block(repeating: 2)
    return isControl .| isTwo .| isThree
  }
}
