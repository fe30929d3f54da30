import CBertQA
import Glibc
import Synchronization

/// The process's worker threads, shared by all contexts.
///
/// A thread that wants help joins as a `Team` and posts phases of work; idle workers take seats in it. No
/// thread ever waits for another team's work: a caller without helpers does everything itself. Callers and
/// busy workers together do not exceed the number of available processors: a worker whose help would exceed
/// it leaves at its next item.
///
/// Workers start when first needed. After their last work they spin for `spinNanoseconds` and then sleep.
/// They block all signals and live until `stop`. After fork() the child starts with a fresh pool.
final class ThreadPool: @unchecked Sendable {
  // Sendable: the state is atomic or guarded by `mutex`.

  /// The number of teams that can have help at the same time. Further teams work alone.
  private static let jobCount = 64
  /// How long a thread polls before it sleeps. Waking a thread costs about as much.
  private static let spinNanoseconds: UInt64 = 50_000

  /// The number of threads that work at once, callers included: the number of processors available when the
  /// pool was made, or the number set with `setSize`.
  var size: Int { sizeNow.load(ordering: .relaxed) }
  private let sizeNow: Atomic<Int>

  let jobs: UnsafeMutablePointer<Job>
  /// Bit i: job i belongs to a team.
  let claimed = Atomic<UInt64>(0)
  /// Bit i: job i may have work left.
  let open = Atomic<UInt64>(0)
  /// Callers inside a call and workers with work.
  let running = Atomic<Int>(0)
  /// The number of seats of the present teams, taken or not.
  let wanted = Atomic<Int>(0)
  /// The number of sleeping workers. Written under `mutex`.
  let parked = Atomic<Int>(0)
  /// The number of live workers. Written under `mutex`.
  let started = Atomic<Int>(0)
  /// The workers' threads. Guarded by `mutex`.
  private var threads: [pthread_t] = []
  /// True while workers have to exit and no new ones may start. Written under `mutex`.
  private let isStopping = Atomic<Bool>(false)

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// Workers sleep here.
  private let workArrived: UnsafeMutablePointer<pthread_cond_t>
  /// Callers sleep here until the last worker has left their job.
  private let jobLeft: UnsafeMutablePointer<pthread_cond_t>
  /// Callers of `stop` sleep here while another thread stops the workers.
  private let stopped: UnsafeMutablePointer<pthread_cond_t>

  /// In a forked child the parent's workers do not exist, and threads that do not exist may hold its mutexes.
  /// So the child abandons the whole pool.
  private let generation = bq_fork_generation()

  init(size: Int) {
    sizeNow = Atomic(max(1, size))
    jobs = .allocate(capacity: Self.jobCount)
    for index in 0..<Self.jobCount { (jobs + index).initialize(to: Job()) }
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    workArrived = .allocate(capacity: 1)
    jobLeft = .allocate(capacity: 1)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(workArrived, &attributes)
    pthread_cond_init(jobLeft, &attributes)
    pthread_condattr_destroy(&attributes)
    stopped = .allocate(capacity: 1)
    pthread_cond_init(stopped, nil)
  }

  /// Only for a pool that never had workers: it does not stop them.
  deinit {
    jobs.deinitialize(count: Self.jobCount)
    jobs.deallocate()
    pthread_cond_destroy(workArrived)
    workArrived.deallocate()
    pthread_cond_destroy(jobLeft)
    jobLeft.deallocate()
    pthread_cond_destroy(stopped)
    stopped.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  // MARK: - The process's pool

  /// The retained pool's address; 0 before first use.
  private static let current = Atomic<UInt>(0)

  /// The size set with `WorkerThreads.setCount`; 0: the number of available processors.
  private static let wantedSize = Atomic<Int>(0)

  private static func sizeToTake() -> Int {
    let wanted = wantedSize.load(ordering: .relaxed)
    return wanted > 0 ? wanted : ProcessorCount.available()
  }

  /// - Parameter size: 0: the number of available processors.
  static func setSize(_ size: Int) {
    wantedSize.store(size, ordering: .relaxed)
    shared.sizeNow.store(max(1, sizeToTake()), ordering: .relaxed)
  }

  /// The process's pool, made on first use.
  static var shared: ThreadPool {
    let present = current.load(ordering: .acquiring)
    if let pointer = UnsafeRawPointer(bitPattern: present) {
      let pool = Unmanaged<ThreadPool>.fromOpaque(pointer).takeUnretainedValue()
      if pool.generation == bq_fork_generation() { return pool }
    }
    let fresh = ThreadPool(size: sizeToTake())
    let retained = Unmanaged.passRetained(fresh)
    let (exchanged, original) = current.compareExchange(
      expected: present, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
    guard !exchanged, let winner = UnsafeRawPointer(bitPattern: original) else { return fresh }
    retained.release()
    return Unmanaged<ThreadPool>.fromOpaque(winner).takeUnretainedValue()
  }

  /// The monotonic time in nanoseconds.
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}

// MARK: - What teams need

extension ThreadPool {
  /// Returns the number of a job for a team; nil if other teams have all of them.
  func claimJob() -> Int? {
    var word = claimed.load(ordering: .relaxed)
    while ~word != 0 {
      let bit = ~word & (word &+ 1)
      let (done, now) = claimed.weakCompareExchange(
        expected: word, desired: word | bit, ordering: .acquiring)
      if done { return bit.trailingZeroBitCount }
      word = now
    }
    return nil
  }

  func giveBack(job: Int) {
    claimed.bitwiseAnd(~(1 << UInt64(job)), ordering: .releasing)
  }

  /// Waits until no helper has a seat of the job. Calls `whileWaiting` about every 20 ms.
  func waitUntilLeft(
    _ job: UnsafeMutablePointer<Job>, _ helperMask: UInt64, whileWaiting: () -> Void
  ) {
    let deadline = Self.nanoseconds() &+ Self.spinNanoseconds
    repeat {
      for _ in 0..<16 {
        if job.pointee.seats.load(ordering: .acquiring) & helperMask == 0 { return }
        bq_pause()
      }
    } while Self.nanoseconds() < deadline

    // A helper may be waiting for fork(), which must not wait for this thread then.
    while !ForkGate.pause({ sleepUntilLeft(job, helperMask) }) { whileWaiting() }
  }

  /// Sleeps for about 20 ms or until the helpers have left the job. Returns true if they had already left it.
  private func sleepUntilLeft(_ job: UnsafeMutablePointer<Job>, _ helperMask: UInt64) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let seats = job.pointee.seats.bitwiseOr(Job.waiting, ordering: .acquiringAndReleasing).newValue
    if seats & helperMask == 0 { return true }
    var until = timespec()
    clock_gettime(CLOCK_MONOTONIC, &until)
    until.tv_nsec += 20_000_000
    if until.tv_nsec >= 1_000_000_000 {
      until.tv_nsec -= 1_000_000_000
      until.tv_sec += 1
    }
    pthread_cond_timedwait(jobLeft, mutex, &until)
    return false
  }
}

// MARK: - Workers

extension ThreadPool {
  /// Enough for the kernels and for the thread-local storage of a large host, which glibc takes from the
  /// stack.
  private static let stackSize = 1 << 20

  /// Starts workers until `count` are alive or the system refuses more, unless another thread is stopping them.
  /// - Returns: false if the system refused.
  @discardableResult
  func start(_ count: Int) -> Bool {
    started.load(ordering: .relaxed) >= count || startMissing(of: count)
  }

  private func startMissing(of count: Int) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isStopping.load(ordering: .relaxed) else { return true }
    threads.reserveCapacity(count)
    // Threads inherit the mask, so no signal can arrive before they have blocked it themselves.
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, Self.stackSize)
    while started.load(ordering: .relaxed) < count {
      var thread = pthread_t()
      let pool = Unmanaged.passRetained(self)
      let failed = pthread_create(
        &thread, &attributes,
        { argument in
          if let argument {
            Unmanaged<ThreadPool>.fromOpaque(argument).takeRetainedValue().work()
          }
          return UnsafeMutableRawPointer(bitPattern: Int(bq_thread_id()))  // for `stop`
        }, pool.toOpaque())
      guard failed == 0 else {
        pool.release()
        return false
      }
      threads.append(thread)
      started.add(1, ordering: .relaxed)
    }
    return true
  }

  /// Ends the workers and returns when their threads are gone. Workers leave their teams at the next item,
  /// and the teams continue alone. The next team that wants help starts workers again.
  func stop() {
    pthread_mutex_lock(mutex)
    let leaving = threads
    threads.removeAll()
    // Another thread is stopping the workers: wait until it is done.
    if leaving.isEmpty {
      pthread_mutex_unlock(mutex)
      return ForkGate.pause { waitUntilStopped() }
    }
    isStopping.store(true, ordering: .relaxed)
    pthread_cond_broadcast(workArrived)
    pthread_mutex_unlock(mutex)
    // A worker may be waiting for fork(), which must not wait for this thread then.
    ForkGate.pause {
      for thread in leaving {
        var result: UnsafeMutableRawPointer?
        if pthread_join(thread, &result) == 0 { bq_wait_for_exit(Int32(Int(bitPattern: result))) }
      }
    }
    pthread_mutex_lock(mutex)
    started.store(0, ordering: .relaxed)
    isStopping.store(false, ordering: .relaxed)
    pthread_cond_broadcast(stopped)
    pthread_mutex_unlock(mutex)
  }

  private func waitUntilStopped() {
    pthread_mutex_lock(mutex)
    while isStopping.load(ordering: .relaxed) { pthread_cond_wait(stopped, mutex) }
    pthread_mutex_unlock(mutex)
  }

  /// Wakes up to `count` sleeping workers, unless `limit` threads are already running.
  func wake(_ count: Int, limit: Int) {
    guard parked.load(ordering: .sequentiallyConsistent) > 0,
      running.load(ordering: .sequentiallyConsistent) < limit
    else { return }
    pthread_mutex_lock(mutex)
    for _ in 0..<min(count, parked.load(ordering: .relaxed)) { pthread_cond_signal(workArrived) }
    pthread_mutex_unlock(mutex)
  }

  /// A worker's loop until the pool stops it: helps teams, spins, sleeps until there is work.
  private func work() {
    ForkGate.hold { bq_name_thread("bertqa") }
    while !isStopping.load(ordering: .relaxed) {
      let deadline = Self.nanoseconds() &+ Self.spinNanoseconds
      var helped = false
      repeat {
        for _ in 0..<16 where !helped {
          helped = help()
          if !helped { bq_pause() }
        }
      } while !helped && Self.nanoseconds() < deadline
      if !helped { sleepUntilWorkArrives() }
    }
  }

  private func sleepUntilWorkArrives() {
    pthread_mutex_lock(mutex)
    parked.add(1, ordering: .sequentiallyConsistent)
    // Looks for work after `parked` is visible: a thread that posts work later sees it and signals.
    while true {
      if isStopping.load(ordering: .relaxed) {
        parked.subtract(1, ordering: .sequentiallyConsistent)
        pthread_mutex_unlock(mutex)
        return
      }
      if let (job, seat) = join() {
        parked.subtract(1, ordering: .sequentiallyConsistent)
        pthread_mutex_unlock(mutex)
        work(on: job, seat: seat)
        return
      }
      pthread_cond_wait(workArrived, mutex)
    }
  }

  /// Works on items of one team's phase. Returns false if no team wants help.
  private func help() -> Bool {
    guard let (job, seat) = join() else { return false }
    work(on: job, seat: seat)
    return true
  }

  /// Takes a seat in a team with work if a processor is free for it.
  private func join() -> (job: Int, seat: Int)? {
    var candidates = open.load(ordering: .sequentiallyConsistent)
    while candidates != 0 {
      let index = candidates.trailingZeroBitCount
      candidates &= candidates &- 1
      let limit = jobs[index].limit.load(ordering: .relaxed)
      guard running.load(ordering: .sequentiallyConsistent) < limit else { continue }
      // If several workers get here at once, the first ones stay.
      if running.add(1, ordering: .sequentiallyConsistent).newValue <= limit,
        let seat = jobs[index].takeSeat()
      {
        return (index, seat)
      }
      running.subtract(1, ordering: .sequentiallyConsistent)
    }
    return nil
  }

  private func work(on index: Int, seat: Int) {
    let job = jobs + index
    let (context, body, count) = (job.pointee.context, job.pointee.body, job.pointee.count)
    let limit = job.pointee.limit.load(ordering: .relaxed)
    repeat {
      let left = job.pointee.remaining.subtract(1, ordering: .relaxed).oldValue
      guard left > 0 else { break }
      ForkGate.hold { body(context, count - left, seat + 1) }
    } while running.load(ordering: .relaxed) <= limit && !isStopping.load(ordering: .relaxed)
    running.subtract(1, ordering: .sequentiallyConsistent)
    if job.pointee.leaveSeat(seat) {
      pthread_mutex_lock(mutex)
      pthread_cond_broadcast(jobLeft)
      pthread_mutex_unlock(mutex)
    }
  }
}
