import Synchronization

extension ThreadPool {
  /// A calling thread's membership in the pool for the duration of a call.
  ///
  /// Runs phases on the caller and up to `maxThreads` - 1 helpers (at most 62). Allocates nothing once the
  /// pool has enough workers.
  struct Team: ~Copyable {
    /// The maximum number of threads that take part, including the caller.
    let threadCount: Int
    private let pool: ThreadPool
    private let job: Int?

    init(maxThreads: Int, pool: ThreadPool = .shared) {
      self.pool = pool
      pool.running.add(1, ordering: .sequentiallyConsistent)
      let helpers = min(maxThreads - 1, Job.maxHelpers)
      job = helpers > 0 ? pool.claimJob() : nil
      threadCount = job == nil ? 1 : helpers + 1
      if job != nil {
        let wanted = pool.wanted.add(helpers, ordering: .relaxed).newValue
        pool.start(max(helpers, min(wanted, pool.size - 1)))
      }
    }

    deinit {
      if let job {
        pool.wanted.subtract(threadCount - 1, ordering: .relaxed)
        pool.giveBack(job: job)
      }
      pool.running.subtract(1, ordering: .sequentiallyConsistent)
      // Another team can use this thread's processor.
      if pool.open.load(ordering: .sequentiallyConsistent) != 0 { pool.wake(1, limit: .max) }
    }

    /// Calls `body` once for each item 0 ..< `count`, in no particular order, and returns when all are done.
    /// Calls `whileWaiting` on the calling thread about every 20 ms while that thread has no items left.
    func run(
      count: Int, context: UnsafeMutableRawPointer,
      whileWaiting: @convention(c) (UnsafeMutableRawPointer) -> Void = { _ in }, body: Body
    ) {
      guard let job, count > 1 else {
        for item in 0..<max(0, count) {
          body(context, item, 0)
          ForkGate.poll()
        }
        return
      }
      let slot = pool.jobs + job
      let helperMask: UInt64 = 1 << UInt64(threadCount - 1) - 1
      slot.pointee.count = count
      slot.pointee.context = context
      slot.pointee.body = body
      let limit = max(pool.size, threadCount)
      slot.pointee.limit.store(limit, ordering: .relaxed)
      slot.pointee.remaining.store(count, ordering: .relaxed)
      slot.pointee.seats.store(Job.seatMask & ~helperMask, ordering: .releasing)
      pool.open.bitwiseOr(1 << UInt64(job), ordering: .sequentiallyConsistent)
      pool.wake(min(threadCount, count) - 1, limit: limit)

      while true {
        let left = slot.pointee.remaining.subtract(1, ordering: .relaxed).oldValue
        guard left > 0 else { break }
        body(context, count - left, 0)
        ForkGate.poll()
      }

      pool.open.bitwiseAnd(~(1 << UInt64(job)), ordering: .relaxed)
      let seats = slot.pointee.seats.bitwiseOr(Job.closed, ordering: .acquiring).oldValue
      guard seats & helperMask != 0 else { return }
      slot.pointee.seats.bitwiseAnd(helperMask | Job.closed, ordering: .relaxed)
      pool.waitUntilLeft(slot, helperMask) { whileWaiting(context) }
    }
  }
}

extension ThreadPool.Team {
  /// As above, for bodies that capture. They escape, so each call allocates their captures: for bodies that do not
  /// escape, the compiler writes the length of this file's path into the code, despite -file-prefix-map.
  func run(
    count: Int, whileWaiting: @escaping () -> Void = {}, _ body: @escaping (_ item: Int, _ seat: Int) -> Void
  ) {
    var closures = Closures(body: body, whileWaiting: whileWaiting)
    withUnsafeMutablePointer(to: &closures) { pointer in
      run(
        count: count, context: pointer,
        whileWaiting: { $0.assumingMemoryBound(to: Closures.self).pointee.whileWaiting() }
      ) { context, item, seat in
        context.assumingMemoryBound(to: Closures.self).pointee.body(item, seat)
      }
    }
  }
}

private struct Closures {
  let body: (Int, Int) -> Void
  let whileWaiting: () -> Void
}
