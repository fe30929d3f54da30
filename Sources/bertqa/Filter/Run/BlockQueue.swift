import Glibc

/// The blocks that were read and not yet processed. The queue is bounded, so that reading waits for
/// processing.
final class BlockQueue: @unchecked Sendable {  // `mutex` guards the state
  enum Taken {
    case block(Block)
    /// No block arrived in time.
    case nothing
    /// There are no more blocks.
    case end(ToolError?)
  }

  /// Large enough to keep reading and processing busy at the same time, and small enough to finish soon after
  /// a stop signal.
  private static let maximumCost = 1 << 20
  private static let maximumBlocks = 64
  /// The maximum number of files that the blocks belong to, as these stay open.
  private static let maximumFiles = 16

  private var blocks: [Block] = []
  private var cost = 0
  private var ending: Taken?
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let arrived = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let left = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(arrived, &attributes)
    pthread_cond_init(left, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(left)
    left.deallocate()
    pthread_cond_destroy(arrived)
    arrived.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Reads to the end. Call it on the reader's thread.
  func fill(from reader: RecordReader) {
    do throws(ToolError) {
      while let block = try reader.next() { put(block) }
      if reader.unfinishedBytes > 0 {
        report(
          "the last \(reader.unfinishedBytes) bytes are not a complete record: they wait for the next run")
      }
      end(nil)
    } catch {
      end(error)
    }
  }

  /// Waits while the queue is full. A block above the limit waits for an empty queue.
  func put(_ block: Block) {
    pthread_mutex_lock(mutex)
    while blocks.count >= Self.maximumBlocks
      || !blocks.isEmpty && cost + block.cost > Self.maximumCost
      || blocks.last?.source !== block.source && fileCount >= Self.maximumFiles
    {
      pthread_cond_wait(left, mutex)
    }
    blocks.append(block)
    cost += block.cost
    pthread_cond_signal(arrived)
    pthread_mutex_unlock(mutex)
  }

  private var fileCount: Int {
    zip(blocks, blocks.dropFirst()).reduce(blocks.isEmpty ? 0 : 1) {
      $0 + ($1.0.source === $1.1.source ? 0 : 1)
    }
  }

  func end(_ error: ToolError?) {
    pthread_mutex_lock(mutex)
    ending = .end(error)
    pthread_cond_signal(arrived)
    pthread_mutex_unlock(mutex)
  }

  /// Returns the next block; waits for it up to `seconds`.
  func take(waiting seconds: Double) -> Taken {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if blocks.isEmpty, ending == nil, seconds > 0 { wait(until: Clock.seconds() + seconds) }
    guard !blocks.isEmpty else { return ending ?? .nothing }
    let block = blocks.removeFirst()
    cost -= block.cost
    pthread_cond_signal(left)
    return .block(block)
  }

  private func wait(until deadline: Double) {
    var time = timespec(tv_sec: Int(deadline), tv_nsec: Int((deadline - deadline.rounded(.down)) * 1e9))
    while blocks.isEmpty, ending == nil {
      if pthread_cond_timedwait(arrived, mutex, &time) == ETIMEDOUT { return }
    }
  }
}
