import Testing

@testable import BertQACore

@Suite struct WarmUpTests {
  @Test func runsOncePerKey() async {
    await #expect(processExitsWith: .success) {
      var runs = 0
      for key in WarmUp.Key.allCases {
        for _ in 0..<2 { WarmUp.once(key) { runs += 1 } }
      }
      precondition(runs == WarmUp.Key.allCases.count)
    }
  }

  /// A task's warm-up may use another's code.
  @Test func mayBeNested() async {
    await #expect(processExitsWith: .success) {
      var order: [Int] = []
      WarmUp.once(.training) {
        WarmUp.once(.wordCounts) { order.append(1) }
        order.append(2)
      }
      precondition(order == [1, 2])
    }
  }
}
