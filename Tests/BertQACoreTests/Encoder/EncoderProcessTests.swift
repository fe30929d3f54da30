import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BertQACore

// Tests whose process ends need Swift 6.2.
#if compiler(>=6.2)
  /// Tests that need a process of their own.
  @Suite struct EncoderProcessTests {
    @Test func forkedChildrenComputeTheSame() async {
      await #expect(processExitsWith: .success) {
        let tiny = try TinyModel("tiny-bert")
        guard let encoder = try tiny.encoder(threads: 3) else { fatalError("no kernels") }
        let batch = tiny.batch(lengths: [128, 40, 128, 7])
        let expected = try encoder.logits(of: batch).start
        // Others use the encoder's memory and the pool while children are made.
        let stop = Atomic<Bool>(false)
        let rounds = Atomic<Int>(0)
        for _ in 0..<2 {
          Thread.detachNewThread {
            while !stop.load(ordering: .relaxed) {
              _ = try? encoder.logits(of: batch)
              rounds.add(1, ordering: .relaxed)
            }
          }
        }
        while rounds.load(ordering: .relaxed) < 20 { usleep(1000) }
        for _ in 0..<30 {
          let child = fork_process()
          if child == 0 { _exit((try? encoder.logits(of: batch).start) == expected ? 0 : 1) }
          var status: Int32 = -1
          precondition(waitpid(child, &status, 0) == child && status == 0)
        }
        stop.store(true, ordering: .relaxed)
      }
    }

    /// After the first call of a size there are only the call's monitor, the result, and what the test makes of it:
    /// two arrays.
    @Test(.enabled(if: counts_allocations()), arguments: [1, 4])
    func warmCallsAllocateOnlyTheirResult(threads: Int) async {
      await #expect(processExitsWith: .success) { [threads] in
        let tiny = try TinyModel("tiny-bert")
        guard let encoder = try tiny.encoder(threads: threads) else { fatalError("no kernels") }
        for lengths in [[128], [9], [60, 128, 31], [Int](repeating: 128, count: 41)] {
          let batch = tiny.batch(lengths: lengths)
          #if DEBUG
            // Without optimisation, reading a row of the word embeddings takes one, and a thread's task a few.
            let allowed = UInt64(10 * (4 + 2 * batch.ids.count))
          #else
            let allowed: UInt64 = 10 * 4
          #endif
          // A helper's memory is made when it first gets work, which may take it a few calls.
          var rounds = 0
          var before: UInt64 = 0
          repeat {
            rounds += 1
            precondition(rounds < 200)
            before = allocation_count()
            for _ in 0..<10 { _ = try encoder.logits(of: batch) }
          } while allocation_count() - before > allowed
        }
      }
    }

    /// Ten times the windows need no more than ten times their ids, logits and place in the plan.
    @Test(.enabled(if: counts_allocations())) func memoryGrowsOnlyWithTheResult() async {
      await #expect(processExitsWith: .success) {
        let tiny = try TinyModel("tiny-bert")
        func bytes(windows: Int) throws -> Int {
          guard let encoder = try tiny.encoder(threads: 2) else { fatalError("no kernels") }
          let batch = tiny.batch(lengths: [Int](repeating: 20, count: windows))
          let before = allocated_bytes()
          _ = try encoder.logits(of: batch)
          return Int(allocated_bytes() - before)
        }
        let (few, many) = (try bytes(windows: 1000), try bytes(windows: 10_000))
        // Per window: 2 · 20 logits of 4 bytes, a member of 16, a 25th of a chunk of 48. An array that
        // doubles until all fits asks for up to four times that.
        var perWindow = 160 + 4 * (16 + 2)
        #if DEBUG
          // Without optimisation, reading a row of the word embeddings takes a moment's 64.
          perWindow += 20 * 64
        #endif
        precondition(many - few < 9000 * perWindow)
      }
    }
  }
#endif
