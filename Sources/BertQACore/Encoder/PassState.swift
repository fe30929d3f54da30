import Synchronization

/// What a call keeps for later calls to reuse.
final class PassState: @unchecked Sendable {
  // Sendable: the plan changes only while one thread has the call, the chunk only while no other thread works on it.
  var plan = ChunkPlan()
  /// What the team works on together. Not in EncoderPass: taking an Optional out of so large a structure, Swift 6.0 makes
  /// that type's metadata when it is first needed, which is not safe beside a fork.
  var active: EncoderPass.ActiveChunk?
  /// Why the caller wants to stop. Written by the calling thread alone.
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
