import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BertQACore

// Tests whose process ends need Swift 6.2.
#if compiler(>=6.2)
  @Suite struct ForkGuardTests {
    @Test func forkWaitsForTheGuard() async {
      await #expect(processExitsWith: .success) {
        let held = Atomic<Bool>(false)
        let finished = Atomic<Bool>(false)
        ForkGuard.hold {}
        Thread.detachNewThread {
          ForkGuard.hold {
            ForkGuard.hold {}
            held.store(true, ordering: .relaxed)
            usleep(50_000)
            finished.store(true, ordering: .relaxed)
          }
        }
        while !held.load(ordering: .relaxed) { usleep(100) }
        let child = fork_process()
        if child == 0 {
          // The child can use the guard although its parent did when it forked.
          ForkGuard.hold {}
          _exit(finished.load(ordering: .relaxed) ? 0 : 1)
        }
        var status: Int32 = -1
        precondition(waitpid(child, &status, 0) == child && status == 0)
      }
    }

    @Test func errorsReleaseTheGuard() async {
      await #expect(processExitsWith: .success) {
        try? ForkGuard.hold { () throws(BertQAError) in throw BertQAError(.io, "") }
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          ForkGuard.hold {}
          done.signal()
        }
        precondition(done.wait(timeout: .now() + 60) == .success)
      }
    }
  }
#endif
