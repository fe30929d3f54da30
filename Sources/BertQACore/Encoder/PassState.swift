import Synchronization

/// The memory that a call keeps for later calls to reuse.
final class PassState: @unchecked Sendable {
  // Sendable: the plan changes only while one thread has the call, the chunk only while no other thread works
  // on it.
  var plan = ChunkPlan()
  /// The chunk on which the team works together. It is not in EncoderPass: to take an Optional out of so
  /// large a structure, Swift 6.0 builds that type's metadata on first use, which is not safe during a fork.
  var active: EncoderPass.ActiveChunk?
  /// The reason to stop. Only the calling thread writes it.
  var stop: BertQAError?
  private let stopped = Atomic<Bool>(false)
  private let outOfMemory = Atomic<Bool>(false)

  var isStopped: Bool {
    stopped.load(ordering: .relaxed) || outOfMemory.load(ordering: .relaxed)
  }

  func begin() {
    active = nil
    stop = nil
    stopped.store(false, ordering: .relaxed)
    outOfMemory.store(false, ordering: .relaxed)
  }

  func stop(_ error: BertQAError) {
    stop = error
    stopped.store(true, ordering: .relaxed)
  }

  func runOutOfMemory() { outOfMemory.store(true, ordering: .relaxed) }

  func check() throws(BertQAError) {
    if let stop { throw stop }
    if outOfMemory.load(ordering: .relaxed) {
      throw BertQAError(.outOfMemory, "no memory for the encoder's activations")
    }
  }
}
