import CBertQA

/// One call of the encoder: the batch, its plan, and the work that threads share.
///
/// A chunk goes through 1 + 2 · layers phases: `begin`, then attention and `advance` for each layer. `advance` goes
/// as far as the next layer's projections: these need only the same tokens, so they are computed while the tokens
/// are in the cache. A head of windows adds one phase over the windows of the whole batch. If it reads only
/// some tokens, the last layer computes only these (`ReadTokens`).
struct EncoderPass {
  let encoder: Encoder
  let state: PassState
  let ids: UnsafeBufferPointer<Int32>
  let windows: UnsafeBufferPointer<Window>
  let chunks: UnsafeBufferPointer<ChunkPlan.Chunk>
  let members: UnsafeBufferPointer<ChunkPlan.Member>
  let output: Output
  /// The layers that read the output's vectors.
  let head: Head
  /// The tokens that the output needs of the last layer.
  let readTokens: ReadTokens
  /// [windows][vectorSize] if the pass is for windows: the head's input, or the result itself.
  let windowVectors: UnsafeMutablePointer<Float>
  let monitor: CallMonitor?
  /// The team's current task while it works on one chunk together.
  var shared = SharedPhase()

  /// The kind of the pass's output, and the memory that receives it.
  struct Output {
    var input: HeadInput
    /// [columns][tokens of the batch] or [windows][columns]
    var values: UnsafeMutablePointer<Float>
  }

  /// A chunk being computed.
  struct ActiveChunk {
    var chunk: ChunkPlan.Chunk
    var activations: Workspace.Activations
  }

  struct SharedPhase {
    var layer = 0
    /// The number of blocks, and of the tasks that they are divided into.
    var blocks = 1
    var groups = 1
    var attention = AttentionShare()
  }

  /// The heads and queries of an attention task.
  struct AttentionShare {
    var headsPerTask = 1
    var queriesPerTask = 1
  }

  static let lanes = Kernels.lanes

  var hiddenSize: Int { encoder.configuration.hiddenSize }
  /// The number of features of a window's vector.
  var vectorSize: Int { hiddenSize * output.input.vectorCount }
  var layerWidth: Int { encoder.configuration.layerWidth }
  var embeddingSize: Int { encoder.configuration.embeddingSize }

  mutating func run(team: borrowing ThreadPool.Team) throws(BertQAError) {
    let aloneCount = state.plan.aloneCount
    state.begin()
    poll(seat: 0)

    withUnsafeMutablePointer(to: &self) { pass in
      team.run(count: aloneCount, context: pass, whileWaiting: Self.pollWhileWaiting) {
        EncoderPass.at($0).pointee.computeAlone(chunk: $1, seat: $2)
      }
      for chunk in aloneCount..<pass.pointee.chunks.count where !pass.pointee.state.isStopped {
        Self.computeTogether(pass, chunk: chunk, team: team)
      }
    }

    try runHead(team: team)
    try state.check()
  }

  static func at(_ context: UnsafeMutableRawPointer) -> UnsafeMutablePointer<EncoderPass> {
    context.assumingMemoryBound(to: EncoderPass.self)
  }

  static let pollWhileWaiting: @convention(c) (UnsafeMutableRawPointer) -> Void = {
    EncoderPass.at($0).pointee.poll(seat: 0)
  }

  /// Lets other threads fork, and checks for cancellation. Only the calling thread, which has seat 0, does
  /// this.
  func poll(seat: Int) {
    ForkGate.poll()
    guard seat == 0, let monitor, !state.isStopped else { return }
    do throws(BertQAError) {
      try monitor.check()
    } catch {
      state.stop(error)
    }
  }

  /// Runs `body` with this thread's scratch memory. Does nothing if there is none.
  func withScratch(
    seat: Int, chunk: ChunkPlan.Chunk, _ body: (Workspace, Workspace.Scratch) throws(BertQAError) -> Void
  ) {
    let workspace = encoder.workspaces.take(preferring: seat) ?? Workspace()
    defer { encoder.workspaces.give(workspace, preferring: seat) }
    let family = encoder.configuration.family
    let groupLanes = encoder.groupBlocks * Self.lanes
    // Queries and keys are side by side while they are rotated.
    let isRotary = family.positions == .rotary
    let widest = max(
      encoder.configuration.intermediateSize, isRotary ? 2 * hiddenSize : hiddenSize, layerWidth,
      encoder.configuration.hasTrigrams ? 3 * embeddingSize : embeddingSize)
    do throws(BertQAError) {
      let scratch = try workspace.scratch(
        intermediate: groupLanes * widest + max(embeddingSize, encoder.configuration.positionSize),
        normalized: family.norm == .layerNormBefore ? groupLanes * hiddenSize : 0,
        turns: isRotary ? encoder.configuration.headSize * Self.lanes : 0, blocks: encoder.groupBlocks,
        attention: encoder.attentionScratch(tokens: chunk.longestWindow),
        head: output.input == .tokens
          ? head.scratchCount(blocks: encoder.groupBlocks) : 0)
      try body(workspace, scratch)
    } catch {
      state.runOutOfMemory()
    }
  }

  // MARK: - One chunk by one thread

  /// Takes one chunk through all layers on this thread.
  private func computeAlone(chunk index: Int, seat: Int) {
    guard !state.isStopped else { return }
    let chunk = chunks[index]
    withScratch(seat: seat, chunk: chunk) { workspace, scratch throws(BertQAError) in
      let activations = try workspace.activations(
        floatsPerFeature: chunk.blocks * Self.lanes, encoder.configuration,
        projectionSize: encoder.projectionCount * encoder.projectionSize)
      let active = ActiveChunk(chunk: chunk, activations: activations)
      computeGroups(seat: seat, of: chunk.blocks) { blocks in
        begin(active, blocks, scratch)
      }
      for layer in 0..<encoder.parameters.layers.count {
        for member in chunk.members {
          for head in 0..<encoder.configuration.headCount {
            attendInWindow(
              active, layer: layer, member: members[member], head: head, queries: nil, scratch)
            poll(seat: seat)
            if state.isStopped { return }
          }
        }
        if readsTokens(inLayer: layer) { gatherReadTokens(active) }
        computeGroups(seat: seat, of: blocks(toFinish: layer, of: chunk)) { blocks in
          advance(active, fromAttentionOf: layer, blocks, scratch)
        }
      }
      guard !state.isStopped else { return }
      pool(active)
    }
  }

  private func computeGroups(seat: Int, of blocks: Int, _ body: (Range<Int>) -> Void) {
    let groups = (blocks + encoder.groupBlocks - 1) / encoder.groupBlocks
    for group in 0..<groups where !state.isStopped {
      body(Self.blocks(of: group, of: groups, in: blocks))
      poll(seat: seat)
    }
  }

  /// Returns an even share of `blocks` blocks. Kernels prefer pairs of blocks, so shares are even numbers unless that
  /// would make the largest share larger.
  static func blocks(of group: Int, of groups: Int, in blocks: Int) -> Range<Int> {
    let pairs = (blocks + 1) / 2
    guard 2 * ((pairs + groups - 1) / groups) <= (blocks + groups - 1) / groups else {
      return blocks * group / groups..<blocks * (group + 1) / groups
    }
    return min(blocks, 2 * (pairs * group / groups))..<min(blocks, 2 * (pairs * (group + 1) / groups))
  }
}
