import CBertQA
import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BertQACore

// Tests whose process ends need Swift 6.2.
#if compiler(>=6.2)
  @Suite struct ForkGateTests {
    @Test func forkWaitsForThoseInside() async {
      await #expect(processExitsWith: .success) {
        let isInside = Atomic<Bool>(false)
        let isFinished = Atomic<Bool>(false)
        ForkGate.hold {}
        Thread.detachNewThread {
          ForkGate.hold {
            ForkGate.hold {}
            isInside.store(true, ordering: .relaxed)
            usleep(50_000)
            isFinished.store(true, ordering: .relaxed)
          }
        }
        while !isInside.load(ordering: .relaxed) { usleep(100) }
        let child = fork_process()
        if child == 0 {
          // The child can enter although another thread of its parent's was inside.
          ForkGate.hold {}
          _exit(isFinished.load(ordering: .relaxed) ? 0 : 1)
        }
        var status: Int32 = -1
        precondition(waitpid(child, &status, 0) == child && status == 0)
      }
    }

    @Test func errorsLeaveTheGate() async {
      await #expect(processExitsWith: .success) {
        try? ForkGate.hold { () throws(BertQAError) in throw BertQAError(.io, "") }
        precondition(Self.otherThreadForks())
      }
    }

    @Test func pausesLetOthersFork() async {
      await #expect(processExitsWith: .success) {
        ForkGate.hold {
          ForkGate.hold {
            precondition(ForkGate.pause { !Self.isInside && Self.otherThreadForks() })
            precondition(Self.isInside)
          }
          precondition(Self.isInside)
        }
        precondition(!Self.isInside)
      }
    }

    /// A thread that never leaves, but polls.
    @Test func pollsLetOthersFork() async {
      await #expect(processExitsWith: .success) {
        let hasForked = Atomic<Bool>(false)
        ForkGate.hold {
          Thread.detachNewThread {
            precondition(Self.forks())
            hasForked.store(true, ordering: .relaxed)
          }
          while !hasForked.load(ordering: .relaxed) { ForkGate.poll() }
          precondition(Self.isInside)
        }
      }
    }

    private static var isInside: Bool {
      let depth = bq_let_fork()
      bq_go_on(depth)
      return depth > 0
    }

    private static func forks() -> Bool {
      let child = fork_process()
      if child == 0 { _exit(0) }
      var status: Int32 = -1
      return waitpid(child, &status, 0) == child && status == 0
    }

    private static func otherThreadForks() -> Bool {
      let hasForked = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        precondition(forks())
        hasForked.signal()
      }
      return hasForked.wait(timeout: .now() + 60) == .success
    }
  }
#endif
