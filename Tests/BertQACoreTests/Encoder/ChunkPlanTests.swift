import Testing

@testable import BertQACore

@Suite struct ChunkPlanTests {
  private let costs = ChunkPlan.CostModel(perToken: 100, perTokenPair: 0.1)

  private func plan(_ lengths: [Int], threads: Int, budget: Int = 512) -> ChunkPlan {
    var first = 0
    var windows: [Window] = []
    for length in lengths {
      windows.append(Window(firstToken: first, tokenCount: length, secondSegment: 0))
      first += length
    }
    var plan = ChunkPlan()
    windows.withUnsafeBufferPointer {
      plan.make($0, budget: budget, threads: threads, costs: costs)
    }
    return plan
  }

  @Test(arguments: [
    [], [1], [512], [513, 1], [700], [0, 5, 0], [3, 5, 9, 500, 100, 4, 384, 384, 1, 2],
    [Int](repeating: 7, count: 500),
  ])
  func everyWindowHasItsLanes(lengths: [Int]) {
    let plan = plan(lengths, threads: 2)
    #expect(plan.members.map(\.window) == lengths.indices.filter { lengths[$0] > 0 })
    #expect(plan.chunks.flatMap(\.members) == Array(plan.members.indices))
    for chunk in plan.chunks {
      var free = 0
      for member in chunk.members {
        let lane = plan.members[member].lane
        #expect(lane % 4 == 0 && lane >= free && lane < free + 4)
        free = lane + lengths[plan.members[member].window]
      }
      #expect(free <= chunk.lanes && chunk.lanes <= chunk.blocks * Kernels.lanes)
      #expect(chunk.lanes <= 512 || chunk.members.count == 1)
      #expect(chunk.longestWindow == chunk.members.map { lengths[plan.members[$0].window] }.max())
    }
    #expect(plan.aloneCount <= plan.chunks.count)
  }

  @Test func oneThreadNeedsNoHelp() {
    #expect(plan([384, 384, 384], threads: 1).aloneCount == 3)
  }

  @Test func equalWindowsAreDealtOutAndTheRestIsShared() {
    #expect(plan([384], threads: 2).aloneCount == 0)
    #expect(plan([384, 384], threads: 2).aloneCount == 2)
    #expect(plan([384, 384, 384], threads: 2).aloneCount == 2)
    #expect(plan([Int](repeating: 384, count: 8), threads: 2).aloneCount == 8)
    #expect(plan([Int](repeating: 384, count: 9), threads: 2).aloneCount == 8)
    #expect(plan([Int](repeating: 384, count: 8), threads: 3).aloneCount == 6)
    #expect(plan([Int](repeating: 384, count: 3), threads: 64).aloneCount == 0)
  }

  @Test func unequalWindowsAreSharedWhenOneThreadWouldWait() {
    #expect(plan([500, 60], threads: 2).aloneCount == 0)
    #expect(plan([500, 500, 300, 300, 490], threads: 2, budget: 500).aloneCount == 4)
  }

  @Test func aPlanIsReusable() {
    var reused = plan([10, 20, 600, 5], threads: 3)
    [Window(firstToken: 0, tokenCount: 9, secondSegment: 2)].withUnsafeBufferPointer {
      reused.make($0, budget: 512, threads: 2, costs: costs)
    }
    #expect(reused.members.count == 1 && reused.chunks.count == 1 && reused.aloneCount == 0)
  }

  @Test(arguments: 1...40, 1...9)
  func groupsOfBlocksCoverTheChunk(blocks: Int, groups: Int) {
    let ranges = (0..<groups).map { EncoderPass.blocks(of: $0, of: groups, in: blocks) }
    #expect(ranges.flatMap { Array($0) } == Array(0..<blocks))
    #expect(ranges.map(\.count).max() == (blocks + groups - 1) / groups)
  }
}
