/// How a batch is cut into work.
///
/// Windows travel in chunks of up to a budget of tokens, in lane layout (kernels.h): each starts at a
/// multiple of 4 tokens, and only the last block of a chunk is filled up. A thread takes a whole
/// chunk through all layers; the last few are done by all threads together, so that none waits long
/// for the others.
struct ChunkPlan {
  /// A window inside a chunk.
  struct Member {
    var window: Int
    /// Of the window's first token, counted from the beginning of the chunk.
    var lane: Int
  }

  struct Chunk {
    var members: Range<Int>
    var lanes: Int
    var longestWindow: Int
    /// In floating-point operations, about.
    var cost: Double

    var blocks: Int { Kernels.blocks(tokens: lanes) }
  }

  /// Operations of one layer.
  struct CostModel {
    var perToken: Double
    var perTokenPair: Double
  }

  private(set) var members: [Member] = []
  private(set) var chunks: [Chunk] = []
  /// The first so many chunks are taken by one thread each.
  private(set) var aloneCount = 0
  private var loads: [Double] = []

  /// Time O(windows · threads). Allocates only what larger batches or more threads than before need.
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

  /// The number of chunks to hand out whole that finishes first, if each goes to the thread that is
  /// free first and the rest is shared at a small loss.
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
