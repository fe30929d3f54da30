import CBertQA
import Glibc
import Synchronization

/// The process's worker threads. All contexts share them.
///
/// A thread that wants help joins as a `Team` and posts phases of work; idle workers take seats in
/// it. Nobody ever waits for another team's work: a caller whom no worker helps does everything
/// itself. Callers and busy workers together stay within the number of available processors: a
/// worker whose help would exceed it leaves at its next item.
///
/// Workers are started when first needed, spin for `spinNanoseconds` after their last work and then
/// sleep. They block all signals and live as long as the process. After fork() the child begins with
/// a fresh pool.
final class ThreadPool: @unchecked Sendable {
  // Sendable: the state is atomic or guarded by `mutex`.

  /// Teams that can have help at the same time; further ones work alone.
  static let jobCount = 64
  /// How long a thread polls before it sleeps. Waking one costs about as much.
  static let spinNanoseconds: UInt64 = 50_000

  /// The processors available when the pool was made, including the caller's.
  let size: Int

  let jobs: UnsafeMutablePointer<Job>
  /// Bit i: job i belongs to a team.
  let claimed = Atomic<UInt64>(0)
  /// Bit i: job i may have work left.
  let open = Atomic<UInt64>(0)
  /// Callers inside a call and workers with work.
  let running = Atomic<Int>(0)
  /// Seats that the present teams have, taken or not.
  let wanted = Atomic<Int>(0)
  /// Workers asleep. Written under `mutex`.
  let parked = Atomic<Int>(0)
  /// Workers alive. Written under `mutex`.
  let started = Atomic<Int>(0)

  let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// Workers sleep here.
  let workArrived: UnsafeMutablePointer<pthread_cond_t>
  /// Callers sleep here until the last worker has left their job.
  let jobLeft: UnsafeMutablePointer<pthread_cond_t>

  init(size: Int) {
    self.size = max(1, size)
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
  }

  /// Only for a pool that never had workers: they are not stopped.
  deinit {
    jobs.deinitialize(count: Self.jobCount)
    jobs.deallocate()
    pthread_cond_destroy(workArrived)
    workArrived.deallocate()
    pthread_cond_destroy(jobLeft)
    jobLeft.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  // MARK: - The process's pool

  /// The retained pool's address, or 0 before first use and in a forked child.
  private static let current = Atomic<UInt>(0)

  private static let forkHandler: Void = {
    // The parent's workers do not exist in the child and its mutexes may be held by threads that do
    // not either, so the child forgets the pool as a whole.
    pthread_atfork(nil, nil, { ThreadPool.current.store(0, ordering: .relaxed) })
  }()

  /// The pool of this process, made on first use.
  static var shared: ThreadPool {
    if let pointer = UnsafeRawPointer(bitPattern: current.load(ordering: .acquiring)) {
      return Unmanaged<ThreadPool>.fromOpaque(pointer).takeUnretainedValue()
    }
    _ = forkHandler
    let fresh = ThreadPool(size: ProcessorCount.available())
    let retained = Unmanaged.passRetained(fresh)
    let (exchanged, original) = current.compareExchange(
      expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
    guard !exchanged, let winner = UnsafeRawPointer(bitPattern: original) else { return fresh }
    retained.release()
    return Unmanaged<ThreadPool>.fromOpaque(winner).takeUnretainedValue()
  }

  /// Monotonic time.
  static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
