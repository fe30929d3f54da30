/// The division of a batch into work.
///
/// Windows are packed into chunks of up to a budget of tokens, in lane layout (kernels.h): each window starts
/// at a multiple of 4 tokens, and only the last block of a chunk is padded. A thread takes a whole chunk
/// through all layers. All threads compute the last few chunks together, so that none waits long for the
/// others.
struct ChunkPlan {
  /// A window inside a chunk.
  struct Member {
    var window: Int
    /// The lane of the window's first token, counted from the start of the chunk.
    var lane: Int
  }

  struct Chunk {
    var members: Range<Int>
    var lanes: Int
    var longestWindow: Int
    /// Approximate, in floating-point operations.
    var cost: Double

    var blocks: Int { Kernels.blocks(tokens: lanes) }
  }

  /// The cost in operations of one layer.
  struct CostModel {
    var perToken: Double
    var perTokenPair: Double
  }

  private(set) var members: [Member] = []
  private(set) var chunks: [Chunk] = []
  /// The number of chunks that one thread computes alone, from the first on.
  private(set) var aloneCount = 0
  private var loads: [Double] = []

  /// Takes O(windows · threads) time. Allocates only for larger batches or more threads than before.
  mutating func make(
    _ windows: UnsafeBufferPointer<Window>, budget: Int, threads: Int, costs: CostModel
  ) {
    members.removeAll(keepingCapacity: true)
    chunks.removeAll(keepingCapacity: true)
    for index in windows.indices where windows[index].tokenCount > 0 {
      let window = windows[index]
      let spread = (window.tokenCount + 3) & ~3
      if chunks.isEmpty || chunks[chunks.count - 1].lanes + spread > budget {
        chunks.append(
          Chunk(members: members.count..<members.count, lanes: 0, longestWindow: 0, cost: 0))
      }
      let last = chunks.count - 1
      members.append(Member(window: index, lane: chunks[last].lanes))
      chunks[last].members = chunks[last].members.lowerBound..<members.count
      chunks[last].lanes += spread
      chunks[last].longestWindow = max(chunks[last].longestWindow, window.tokenCount)
      let tokens = Double(window.tokenCount)
      chunks[last].cost += tokens * (costs.perToken + tokens * costs.perTokenPair)
    }
    aloneCount = threads > 1 ? bestAloneCount(threads: threads) : chunks.count
  }

  func withUnsafeBuffers(
    _ body: (UnsafeBufferPointer<Chunk>, UnsafeBufferPointer<Member>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    try chunks.withElements { chunks throws(BertQAError) in
      try members.withElements { members throws(BertQAError) in
        try body(chunks, members)
      }
    }
  }

  /// Returns the number of chunks to hand out whole for which the estimated time is shortest. The estimate
  /// gives each chunk to the thread that is free first and shares the rest at a small loss.
  private mutating func bestAloneCount(threads: Int) -> Int {
    let lossOfSharing = 1.04
    var rest = 0.0
    for index in chunks.indices { rest += chunks[index].cost }
    var best = 0
    var bestTime = rest * lossOfSharing / Double(threads)
    loads.removeAll(keepingCapacity: true)
    for _ in 0..<threads { loads.append(0) }
    var longest = 0.0
    for index in chunks.indices {
      let cost = chunks[index].cost
      var first = 0
      for thread in 1..<threads where loads[thread] < loads[first] { first = thread }
      loads[first] += cost
      longest = max(longest, loads[first])
      rest -= cost
      let time = longest + max(0, rest) * lossOfSharing / Double(threads)
      if time <= bestTime { (best, bestTime) = (index + 1, time) }
    }
    return best
  }
}
