import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BertQACore

// Tests whose process ends need Swift 6.2.
#if compiler(>=6.2)
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

    /// fork() waits for the first load of a kind, and for no later one; a load that failed was none.
    @Test func laterLoadsLetOthersFork() async {
      await #expect(processExitsWith: .success) {
        let failed = try? WarmUp.load("a") { forkWaits throws(BertQAError) -> Int in
          precondition(forkWaits)
          throw BertQAError(.io, "")
        }
        precondition(failed == nil)
        for (kind, expected) in [("a", true), ("a", false), ("b", true), ("a", false), ("b", false)] {
          let forkWaits = try? WarmUp.load(kind) { forkWaits throws(BertQAError) in forkWaits }
          precondition(forkWaits == expected)
        }
        let forked = DispatchSemaphore(value: 0)
        let isInTime = try? WarmUp.load("a") { _ throws(BertQAError) in
          Thread.detachNewThread {
            let child = fork_process()
            if child == 0 { _exit(0) }
            var status: Int32 = -1
            precondition(waitpid(child, &status, 0) == child && status == 0)
            forked.signal()
          }
          return forked.wait(timeout: .now() + 60) == .success
        }
        precondition(isInTime == true)
      }
    }
  }
#endif
