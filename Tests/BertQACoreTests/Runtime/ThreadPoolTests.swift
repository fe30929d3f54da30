import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BertQACore

/// A phase's shared state: how often each item was done, and by which seats.
private final class Ledger: @unchecked Sendable {
  let visits: UnsafeMutablePointer<Counter>
  let count: Int
  let seats = Atomic<UInt64>(0)

  struct Counter: ~Copyable { let value = Atomic<Int>(0) }

  init(_ count: Int) {
    self.count = count
    visits = .allocate(capacity: max(1, count))
    for index in 0..<count { (visits + index).initialize(to: Counter()) }
  }

  var total: Int { (0..<count).reduce(0) { $0 + visits[$1].value.load(ordering: .relaxed) } }
  var isEven: Bool {
    Set((0..<count).map { visits[$0].value.load(ordering: .relaxed) }).count <= 1
  }

  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static let visit: ThreadPool.Body = { context, item, seat in
    let ledger = Unmanaged<Ledger>.fromOpaque(context).takeUnretainedValue()
    ledger.visits[item].value.add(1, ordering: .relaxed)
    ledger.seats.bitwiseOr(1 << UInt64(seat), ordering: .relaxed)
  }

  /// Returns when as many threads as there are items have one each.
  static let meet: ThreadPool.Body = { context, item, seat in
    Ledger.visit(context, item, seat)
    let ledger = Unmanaged<Ledger>.fromOpaque(context).takeUnretainedValue()
    while ledger.total < ledger.count { usleep(100) }
  }

  static let visitSlowly: ThreadPool.Body = { context, item, seat in
    Ledger.visit(context, item, seat)
    usleep(200)
  }
}

/// Runs the same work on several threads of the host and waits for them.
private func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  let done = DispatchSemaphore(value: 0)
  for index in 0..<count {
    Thread.detachNewThread {
      work(index)
      done.signal()
    }
  }
  for _ in 0..<count { done.wait() }
}

@Suite struct ThreadPoolTests {
  @Test(arguments: [0, 1, 2, 3, 17, 1000], [1, 2, 3, 8, 1000])
  func everyItemIsDoneOnce(count: Int, threads: Int) {
    let ledger = Ledger(count)
    let team = ThreadPool.Team(maxThreads: threads)
    for _ in 0..<20 { team.run(count: count, context: ledger.context, body: Ledger.visit) }
    #expect(ledger.total == 20 * count)
    #expect(ledger.isEven)
  }

  @Test func helpersTakePart() {
    let ledger = Ledger(3)
    let team = ThreadPool.Team(maxThreads: 3, pool: ThreadPool(size: 3))
    team.run(count: 3, context: ledger.context, body: Ledger.meet)
    #expect(ledger.total == 3)
    #expect(ledger.seats.load(ordering: .relaxed) == 0b111)
  }

  @Test func manyCallersAtOnce() {
    // More callers than the pool has jobs for helpers.
    onThreads(80) { _ in
      let ledger = Ledger(64)
      for _ in 0..<50 {
        let team = ThreadPool.Team(maxThreads: 4)
        team.run(count: 64, context: ledger.context, body: Ledger.visit)
      }
      #expect(ledger.total == 50 * 64)
      #expect(ledger.isEven)
    }
  }

  @Test func poolIsIdleAfterwards() {
    let pool = ThreadPool(size: 4)
    onThreads(8) { _ in
      let ledger = Ledger(30)
      let team = ThreadPool.Team(maxThreads: 4, pool: pool)
      for _ in 0..<20 { team.run(count: 30, context: ledger.context, body: Ledger.visitSlowly) }
    }
    #expect(pool.running.load(ordering: .relaxed) == 0)
    #expect(pool.wanted.load(ordering: .relaxed) == 0)
    #expect(pool.claimed.load(ordering: .relaxed) == 0)
    #expect(pool.open.load(ordering: .relaxed) == 0)
    // Workers go to sleep; a second is ages for them.
    for _ in 0..<1000 where pool.parked.load(ordering: .relaxed) < 3 { usleep(1000) }
    #expect(pool.parked.load(ordering: .relaxed) == pool.started.load(ordering: .relaxed))
  }

  @Test func callersAndWorkersStayWithinTheProcessors() {
    // Two processors, two callers: no worker may help while both are at work.
    let pool = ThreadPool(size: 2)
    let first = ThreadPool.Team(maxThreads: 2, pool: pool)
    let second = ThreadPool.Team(maxThreads: 2, pool: pool)
    let ledger = Ledger(50)
    first.run(count: 50, context: ledger.context, body: Ledger.visitSlowly)
    #expect(ledger.total == 50)
    #expect(ledger.seats.load(ordering: .relaxed) == 0b1)
    _ = second.threadCount
  }

  @Test func hookRunsWhileTheCallerWaits() {
    final class State: @unchecked Sendable {
      let arrived = Atomic<Int>(0)
      let polls = Atomic<Int>(0)
    }
    let state = State()
    let team = ThreadPool.Team(maxThreads: 2, pool: ThreadPool(size: 2))
    // The helper's item ends only after the caller, waiting for it, has called the hook.
    team.run(
      count: 2, context: Unmanaged.passUnretained(state).toOpaque(),
      whileWaiting: {
        Unmanaged<State>.fromOpaque($0).takeUnretainedValue().polls.add(1, ordering: .relaxed)
      },
      body: { context, _, seat in
        let state = Unmanaged<State>.fromOpaque(context).takeUnretainedValue()
        state.arrived.add(1, ordering: .relaxed)
        while state.arrived.load(ordering: .relaxed) < 2 { usleep(100) }
        while seat == 1 && state.polls.load(ordering: .relaxed) == 0 { usleep(100) }
      })
    #expect(state.polls.load(ordering: .relaxed) > 0)
  }

  // Tests whose process ends need Swift 6.2.
  #if compiler(>=6.2)
    @Test(.enabled(if: counts_allocations())) func runningAllocatesNothing() async {
      await #expect(processExitsWith: .success) {
        let ledger = Ledger(100)
        let team = ThreadPool.Team(maxThreads: 4)
        team.run(count: 100, context: ledger.context, body: Ledger.visitSlowly)
        let atStart = allocation_count()
        _ = [Int](repeating: 1, count: 1000).withUnsafeBufferPointer { $0.baseAddress }
        precondition(allocation_count() > atStart)
        let before = allocation_count()
        for _ in 0..<10 { team.run(count: 100, context: ledger.context, body: Ledger.visitSlowly) }
        precondition(allocation_count() == before)
      }
    }

    @Test func forkedChildrenHaveAPoolOfTheirOwn() async {
      await #expect(processExitsWith: .success) {
        func workersHelp() -> Bool {
          let ledger = Ledger(3)
          let team = ThreadPool.Team(maxThreads: 3)
          team.run(count: 3, context: ledger.context, body: Ledger.meet)
          return ledger.seats.load(ordering: .relaxed) == 0b111
        }
        precondition(workersHelp())
        // Other threads of the parent hold the pool in every state when children are made.
        let stop = Atomic<Bool>(false)
        let rounds = Atomic<Int>(0)
        for _ in 0..<3 {
          Thread.detachNewThread {
            let busy = Ledger(16)
            while !stop.load(ordering: .relaxed) {
              ForkGate.hold {
                let team = ThreadPool.Team(maxThreads: 4)
                team.run(count: 16, context: busy.context, body: Ledger.visit)
              }
              rounds.add(1, ordering: .relaxed)
            }
          }
        }
        while rounds.load(ordering: .relaxed) < 100 { usleep(1000) }
        for _ in 0..<50 {
          let child = fork_process()
          if child == 0 { _exit(workersHelp() ? 0 : 1) }
          var status: Int32 = -1
          precondition(waitpid(child, &status, 0) == child && status == 0)
        }
        stop.store(true, ordering: .relaxed)
      }
    }
  #endif

  @Test func workersBlockSignalsAndAreNamed() throws {
    let ledger = Ledger(20)
    let team = ThreadPool.Team(maxThreads: 2)
    team.run(count: 20, context: ledger.context, body: Ledger.visitSlowly)
    var workers = 0
    // A worker names itself when it first gets a processor.
    for _ in 0..<1000 where workers == 0 {
      usleep(1000)
      for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
        let file = "/proc/self/task/\(task)/status"
        let status = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        guard status.hasPrefix("Name:\tbertqa\n") else { continue }
        workers += 1
        let blocked = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") })
        let mask = try #require(UInt64(blocked.split(separator: "\t")[1], radix: 16))
        // SIGHUP to SIGALRM; SIGKILL cannot be blocked.
        for signal in 1...14 where signal != SIGKILL { #expect(mask >> (signal - 1) & 1 == 1) }
      }
    }
    #expect(workers > 0)
  }
}
