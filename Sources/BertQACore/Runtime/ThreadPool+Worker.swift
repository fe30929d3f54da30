import CBertQA
import Glibc
import Synchronization

extension ThreadPool {
  /// Enough for the kernels and for the thread-local storage of a large host, which glibc takes from
  /// the same memory.
  private static let stackSize = 1 << 20

  /// Has `count` workers alive, or as many as the system grants.
  func start(_ count: Int) {
    guard started.load(ordering: .relaxed) < count else { return }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    // Threads inherit the mask: no signal can arrive before they have blocked it themselves.
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, Self.stackSize)
    while started.load(ordering: .relaxed) < count {
      var thread = pthread_t()
      let pool = Unmanaged.passRetained(self)
      let failed = pthread_create(
        &thread, &attributes,
        { argument in
          if let argument {
            Unmanaged<ThreadPool>.fromOpaque(argument).takeUnretainedValue().work()
          }
          return nil
        }, pool.toOpaque())
      guard failed == 0 else {
        pool.release()
        return
      }
      started.add(1, ordering: .relaxed)
    }
  }

  /// Wakes up to `count` sleeping workers, unless `limit` threads are running already.
  func wake(_ count: Int, limit: Int) {
    guard parked.load(ordering: .sequentiallyConsistent) > 0,
      running.load(ordering: .sequentiallyConsistent) < limit
    else { return }
    pthread_mutex_lock(mutex)
    for _ in 0..<min(count, parked.load(ordering: .relaxed)) { pthread_cond_signal(workArrived) }
    pthread_mutex_unlock(mutex)
  }

  /// A worker's life.
  private func work() -> Never {
    bq_name_thread("bertqa")
    while true {
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
    // Looked for after `parked` shows: whoever posts later sees it and signals.
    while true {
      if let (job, seat) = join() {
        parked.subtract(1, ordering: .sequentiallyConsistent)
        pthread_mutex_unlock(mutex)
        work(on: job, seat: seat)
        return
      }
      pthread_cond_wait(workArrived, mutex)
    }
  }

  /// Does items of some team's phase. False if no team wants help.
  private func help() -> Bool {
    guard let (job, seat) = join() else { return false }
    work(on: job, seat: seat)
    return true
  }

  /// A seat in a team with work, where a processor is free for it.
  private func join() -> (job: Int, seat: Int)? {
    var candidates = open.load(ordering: .sequentiallyConsistent)
    while candidates != 0 {
      let index = candidates.trailingZeroBitCount
      candidates &= candidates &- 1
      let limit = jobs[index].limit.load(ordering: .relaxed)
      guard running.load(ordering: .sequentiallyConsistent) < limit else { continue }
      // Of workers that get here together, the first ones stay.
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
      body(context, count - left, seat + 1)
    } while running.load(ordering: .relaxed) <= limit
    running.subtract(1, ordering: .sequentiallyConsistent)
    if job.pointee.leaveSeat(seat) {
      pthread_mutex_lock(mutex)
      pthread_cond_broadcast(jobLeft)
      pthread_mutex_unlock(mutex)
    }
  }
}
