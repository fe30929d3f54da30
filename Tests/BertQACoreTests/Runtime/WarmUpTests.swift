import CBertQA
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
        let failed = try? WarmUp.load("a") { () throws(BertQAError) -> Int in
          precondition(Self.forkWaits)
          throw BertQAError(.io, "")
        }
        precondition(failed == nil)
        for (kind, expected) in [("a", true), ("a", false), ("b", true), ("a", false), ("b", false)] {
          let forkWaits = try? WarmUp.load(kind) { () throws(BertQAError) in Self.forkWaits }
          precondition(forkWaits == expected)
        }
        let isInTime = try? WarmUp.load("a") { () throws(BertQAError) in Self.anotherThreadForks() }
        precondition(isInTime == true)
      }
    }

    /// Nor for what is the caller's in the middle of it.
    @Test func pausesLetOthersFork() async {
      await #expect(processExitsWith: .success) {
        ForkGuard.hold {
          ForkGuard.hold {
            precondition(ForkGuard.pause { !Self.forkWaits && Self.anotherThreadForks() })
            precondition(Self.forkWaits)
          }
          precondition(Self.forkWaits)
        }
        precondition(!Self.forkWaits)
      }
    }

    private static var forkWaits: Bool {
      let held = bq_let_fork()
      bq_hold_fork_again(held)
      return held > 0
    }

    private static func anotherThreadForks() -> Bool {
      let forked = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let child = fork_process()
        if child == 0 { _exit(0) }
        var status: Int32 = -1
        precondition(waitpid(child, &status, 0) == child && status == 0)
        forked.signal()
      }
      return forked.wait(timeout: .now() + 60) == .success
    }
  }
#endif
