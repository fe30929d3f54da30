import CBertQA
import Synchronization

/// What a call keeps for later calls to reuse.
final class PassState: @unchecked Sendable {
  // Sendable: the plan changes only while one thread has the call.
  var plan = ChunkPlan()
  /// When the caller asks its cancellation hook next.
  var nextPoll: UInt64 = 0
  let cancelled = Atomic<Bool>(false)
  let outOfMemory = Atomic<Bool>(false)

  var isStopped: Bool {
    cancelled.load(ordering: .relaxed) || outOfMemory.load(ordering: .relaxed)
  }
}

/// One call of the encoder: the batch, its plan, and the work that threads share.
///
/// A chunk goes through 1 + 2 · layers phases: embeddings with the first projections, and for every
/// layer attention and then the rest up to the next layer's projections, which needs nothing but the
/// same tokens and so runs in one go while they are in the cache. Windows' vectors take one phase more.
struct EncoderPass {
  let encoder: Encoder
  let state: PassState
  let ids: UnsafeBufferPointer<Int32>
  let windows: UnsafeBufferPointer<Window>
  let chunks: UnsafeBufferPointer<ChunkPlan.Chunk>
  let members: UnsafeBufferPointer<ChunkPlan.Member>
  let output: Output
  let cancellation: Cancellation?
  /// What the team is doing, when it works on one chunk together.
  var shared = SharedPhase()

  /// What the pass is for, and where it goes.
  enum Output {
    /// Start and end logits, one of each per token of the batch.
    case tokenLogits(start: UnsafeMutablePointer<Float>, end: UnsafeMutablePointer<Float>)
    /// One vector per window, [windows][hidden].
    case windowVectors(UnsafeMutablePointer<Float>, WindowVector)
  }

  /// A chunk being computed.
  struct ActiveChunk {
    var chunk: ChunkPlan.Chunk
    var activations: Workspace.Activations
  }

  struct SharedPhase {
    var active: ActiveChunk?
    var layer = 0
    /// Tasks the chunk's blocks are divided into.
    var groups = 1
    /// Heads and queries of an attention task.
    var headsPerTask = 1
    var queriesPerTask = 1
  }

  static let lanes = Kernels.lanes
  /// Nanoseconds between questions to the cancellation hook.
  private static let pollInterval: UInt64 = 10_000_000

  var hiddenSize: Int { encoder.configuration.hiddenSize }

  mutating func run(team: borrowing ThreadPool.Team) throws(BertQAError) {
    let aloneCount = state.plan.aloneCount
    state.nextPoll = 0
    state.cancelled.store(false, ordering: .relaxed)
    state.outOfMemory.store(false, ordering: .relaxed)
    poll(seat: 0)

    withUnsafeMutablePointer(to: &self) { pass in
      team.run(count: aloneCount, context: pass, whileWaiting: Self.pollWhileWaiting) {
        EncoderPass.at($0).pointee.computeAlone(chunk: $1, seat: $2)
      }
      for chunk in aloneCount..<pass.pointee.chunks.count where !pass.pointee.state.isStopped {
        Self.computeTogether(pass, chunk: chunk, team: team)
      }
    }

    if state.cancelled.load(ordering: .relaxed) {
      throw BertQAError(.cancelled, "cancelled by the caller's hook")
    }
    if state.outOfMemory.load(ordering: .relaxed) {
      throw BertQAError(.outOfMemory, "no memory for the encoder's activations")
    }
  }

  static func at(_ context: UnsafeMutableRawPointer) -> UnsafeMutablePointer<EncoderPass> {
    context.assumingMemoryBound(to: EncoderPass.self)
  }

  static let pollWhileWaiting: @convention(c) (UnsafeMutableRawPointer) -> Void = {
    EncoderPass.at($0).pointee.poll(seat: 0)
  }

  /// Asks the hook now and then; only the calling thread, which has seat 0, does.
  func poll(seat: Int) {
    guard seat == 0, let cancellation, !state.isStopped else { return }
    let time = ThreadPool.nanoseconds()
    guard time >= state.nextPoll else { return }
    state.nextPoll = time &+ Self.pollInterval
    if cancellation.isCancelled() { state.cancelled.store(true, ordering: .relaxed) }
  }

  /// Runs `body` with this thread's scratch memory, unless there is none.
  func withScratch(
    seat: Int, chunk: ChunkPlan.Chunk, _ body: (Workspace, Workspace.Scratch) throws(BertQAError) -> Void
  ) {
    let workspace = encoder.workspaces.take(preferring: seat) ?? Workspace()
    defer { encoder.workspaces.give(workspace, preferring: seat) }
    let widest = max(encoder.configuration.intermediateSize, hiddenSize)
    do throws(BertQAError) {
      let scratch = try workspace.scratch(
        intermediate: encoder.groupBlocks * widest * Self.lanes, blocks: encoder.groupBlocks,
        attention: encoder.attentionScratch(tokens: chunk.longestWindow))
      try body(workspace, scratch)
    } catch {
      state.outOfMemory.store(true, ordering: .relaxed)
    }
  }
}
