import CTestSupport
import Glibc
import Synchronization
import Testing

@testable import BertQACore

/// Many threads at once on what threads share. ThreadSanitizer runs these too (`make sanitize`), so that threads are
/// made and joined by calls that it knows.
@Suite struct ConcurrencyStressTests {
  private final class Work: Sendable {
    let run: @Sendable (Int) -> Void
    let index: Int

    init(_ index: Int, _ run: @escaping @Sendable (Int) -> Void) {
      self.index = index
      self.run = run
    }
  }

  /// Runs the same work on several threads and waits for them.
  private static func onThreads(_ count: Int, _ run: @escaping @Sendable (Int) -> Void) {
    var threads: [pthread_t] = []
    for index in 0..<count {
      var thread = pthread_t()
      let work = Unmanaged.passRetained(Work(index, run)).toOpaque()
      let status = pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
          work.run(work.index)
          return nil
        }, work)
      precondition(status == 0)
      threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
  }

  /// An object that only one thread at a time may have.
  private final class Scratch: @unchecked Sendable {
    let users = Atomic<Int>(0)
    /// Not atomic: a race that ThreadSanitizer sees where two threads have it.
    var uses = 0
  }

  @Test func objectsHaveOneUserAtATime() {
    let pool = ObjectPool<Scratch>()
    let made = Atomic<Int>(0)
    let wrong = Atomic<Int>(0)
    let (threads, rounds) = (8, 5000)
    Self.onThreads(threads) { index in
      var generator = SplitMix64(seed: UInt64(index + 1))
      for _ in 0..<rounds {
        let preferred = Int(generator.next(below: 64))
        var scratch = pool.take(preferring: preferred)
        if scratch == nil {
          scratch = Scratch()
          made.add(1, ordering: .relaxed)
        }
        guard let scratch else { return }
        if scratch.users.add(1, ordering: .relaxed).oldValue != 0 { wrong.add(1, ordering: .relaxed) }
        scratch.uses += 1
        scratch.users.subtract(1, ordering: .relaxed)
        pool.give(scratch, preferring: preferred)
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    var (kept, uses) = (0, 0)
    while let scratch = pool.take() {
      kept += 1
      uses += scratch.uses
    }
    #expect(kept == made.load(ordering: .relaxed) && kept <= threads)
    #expect(uses == threads * rounds)
  }

  /// Sums that teams of changing sizes make, on pools whose workers end and start again meanwhile.
  @Test func teamsComeAndGoWithTheirThreads() {
    let pool = ThreadPool(size: 4)
    let wrong = Atomic<Int>(0)
    Self.onThreads(8) { index in
      var generator = SplitMix64(seed: UInt64(index + 1))
      for round in 0..<300 {
        if index == 0, round % 10 == 0 { pool.stop() }
        if index == 1, round % 10 == 0 { _ = pool.start(3) }
        let count = Int(generator.next(below: 40))
        let team = ThreadPool.Team(maxThreads: 1 + Int(generator.next(below: 6)), pool: pool)
        // Each item has its place: not atomic, so that ThreadSanitizer sees whether the caller waits for all.
        let results = UnsafeMutablePointer<Int>.allocate(capacity: count + 1)
        results.initialize(repeating: 0, count: count + 1)
        nonisolated(unsafe) let places = results
        for _ in 0..<3 { team.run(count: count) { item, _ in places[item] += item } }
        for item in 0..<count where results[item] != 3 * item { wrong.add(1, ordering: .relaxed) }
        results.deallocate()
      }
    }
    // A worker that found all seats taken may count as running until then.
    pool.stop()
    #expect(wrong.load(ordering: .relaxed) == 0)
    #expect(pool.running.load(ordering: .relaxed) == 0 && pool.open.load(ordering: .relaxed) == 0)
    #expect(pool.claimed.load(ordering: .relaxed) == 0 && pool.wanted.load(ordering: .relaxed) == 0)
  }

  // Tests whose process ends need Swift 6.2.
  #if compiler(>=6.2)
    /// Two threads fork while others go in and out: each child finds all of them outside.
    @Test func forksFindNobodyInside() async {
      await #expect(processExitsWith: .success) {
        // Not atomic: the gate is what orders them.
        nonisolated(unsafe) let inside = UnsafeMutablePointer<Int>.allocate(capacity: 6)
        inside.initialize(repeating: 0, count: 6)
        let wrong = Atomic<Int>(0)
        ConcurrencyStressTests.onThreads(6) { index in
          for round in 0..<(index < 2 ? 50 : 2000) {
            guard index < 2 else {
              ForkGate.hold {
                inside[index] += 1
                ForkGate.hold { inside[index] += 1 }
                inside[index] -= 2
                if round % 100 == 0 { ForkGate.poll() }
              }
              continue
            }
            let child = fork_process()
            if child == 0 {
              let all = (0..<6).reduce(0) { $0 + inside[$1] }
              ForkGate.hold { _exit(all == 0 ? 0 : 1) }
            }
            var status: Int32 = -1
            if waitpid(child, &status, 0) != child || status != 0 { wrong.add(1, ordering: .relaxed) }
          }
        }
        precondition(wrong.load(ordering: .relaxed) == 0)
        inside.deallocate()
      }
    }
  #endif
}
