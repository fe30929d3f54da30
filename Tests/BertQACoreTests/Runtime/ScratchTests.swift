import Testing

@testable import BertQACore

@Suite struct ScratchTests {
  @Test func buffersAreAlignedZeroedAndGrow() throws {
    var buffer = AlignedBuffer<Float>()
    for count in [1, 100, 50, 10_000] {
      let before = buffer.capacity
      try buffer.reserve(count)
      #expect(buffer.capacity == max(before, count))
      #expect(UInt(bitPattern: buffer.base) % 64 == 0)
      #expect((0..<count).allSatisfy { buffer.base[$0] == 0 })
    }
  }

  @Test(arguments: [Int.max, Int.max / 4 + 1, 1 << 60, -1])
  func impossibleSizesThrow(count: Int) {
    #expect {
      _ = try AlignedBuffer<Float>(uninitializedCount: count)
    } throws: {
      ($0 as? BertQAError)?.status == .outOfMemory
    }
  }

  private final class Thing: Sendable {}

  @Test func poolReturnsWhatItWasGiven() {
    let pool = ObjectPool<Thing>()
    #expect(pool.take() == nil)
    let (first, second) = (Thing(), Thing())
    pool.give(first, preferring: 3)
    pool.give(second, preferring: 3)
    #expect(pool.take(preferring: 3) === first)
    #expect(pool.take(preferring: 3) === second)
    #expect(pool.take(preferring: 3) == nil)
  }

  @Test func poolKeepsAtMost64AndReleasesThem() {
    weak var kept: Thing?
    do {
      let pool = ObjectPool<Thing>()
      let first = Thing()
      kept = first
      pool.give(first)
      for _ in 0..<100 { pool.give(Thing()) }
      var count = 0
      while pool.take() != nil { count += 1 }
      #expect(count == 64)
      pool.give(first)
    }
    #expect(kept == nil)
  }
}
