import CBertQA

/// One call of the encoder: the batch, its plan, and the work that threads share.
///
/// A chunk goes through 1 + 2 · layers phases: `begin`, then attention and `advance` for each layer. `advance` goes
/// as far as the next layer's projections: these need only the same tokens, so they are computed while the tokens
/// are in the cache. A head of windows adds one phase over the windows of the whole batch.
struct EncoderPass {
  let encoder: Encoder
  let state: PassState
  let ids: UnsafeBufferPointer<Int32>
  let windows: UnsafeBufferPointer<Window>
  let chunks: UnsafeBufferPointer<ChunkPlan.Chunk>
  let members: UnsafeBufferPointer<ChunkPlan.Member>
  let output: Output
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
    /// The number of tasks that the chunk's blocks are divided into.
    var groups = 1
    /// The shares of attention in layers that read the whole window, and in local ones.
    var attention = AttentionShare()
    var localAttention = AttentionShare()
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
      encoder.configuration.intermediateSize, isRotary ? 2 * hiddenSize : hiddenSize, embeddingSize)
    do throws(BertQAError) {
      let scratch = try workspace.scratch(
        intermediate: groupLanes * widest + embeddingSize,
        normalized: family.norm == .layerNormBefore ? groupLanes * hiddenSize : 0,
        turns: isRotary ? encoder.configuration.headSize * Self.lanes : 0, blocks: encoder.groupBlocks,
        attention: encoder.attentionScratch(tokens: chunk.longestWindow),
        head: output.input == .tokens
          ? encoder.parameters.head.scratchCount(blocks: encoder.groupBlocks) : 0)
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
        floatsPerFeature: chunk.blocks * Self.lanes, hiddenSize: hiddenSize,
        projectionSize: encoder.projectionSize)
      let active = ActiveChunk(chunk: chunk, activations: activations)
      computeGroups(seat: seat, chunk: chunk) { blocks in
        begin(active, blocks, scratch)
      }
      for layer in 0..<encoder.parameters.layers.count {
        for member in chunk.members {
          for head in 0..<encoder.configuration.headCount {
            attendInWindow(
              active, layer: layer, member: members[member], head: head, queries: nil, scratch)
          }
          poll(seat: seat)
          if state.isStopped { return }
        }
        computeGroups(seat: seat, chunk: chunk) { blocks in
          advance(active, fromAttentionOf: layer, blocks, scratch)
        }
      }
      guard !state.isStopped else { return }
      for member in chunk.members { pool(active, members[member]) }
    }
  }

  private func computeGroups(seat: Int, chunk: ChunkPlan.Chunk, _ body: (Range<Int>) -> Void) {
    let groups = (chunk.blocks + encoder.groupBlocks - 1) / encoder.groupBlocks
    for group in 0..<groups where !state.isStopped {
      body(Self.blocks(of: group, of: groups, in: chunk))
      poll(seat: seat)
    }
  }

  /// Returns an even share of a chunk's blocks. Kernels prefer pairs of blocks, so shares are even numbers
  /// unless that would make the largest share larger.
  static func blocks(of group: Int, of groups: Int, in chunk: ChunkPlan.Chunk) -> Range<Int> {
    let blocks = chunk.blocks
    let pairs = (blocks + 1) / 2
    guard 2 * ((pairs + groups - 1) / groups) <= (blocks + groups - 1) / groups else {
      return blocks * group / groups..<blocks * (group + 1) / groups
    }
    return min(blocks, 2 * (pairs * group / groups))..<min(blocks, 2 * (pairs * (group + 1) / groups))
  }

  // MARK: - One chunk by the team

  /// The queries of one attention task: few enough to divide a head among tasks, enough to be worth a task.
  private static var minimumQueries: Int { 32 }
  /// The operations below which several heads share a task.
  private static var minimumTaskCost: Double { 2e6 }

  /// Takes one chunk through all layers and divides each phase among the team.
  private static func computeTogether(
    _ pass: UnsafeMutablePointer<EncoderPass>, chunk index: Int, team: borrowing ThreadPool.Team
  ) {
    let chunk = pass.pointee.chunks[index]
    let workspaces = pass.pointee.encoder.workspaces
    let workspace = workspaces.take() ?? Workspace()
    defer { workspaces.give(workspace) }
    guard
      let activations = try? workspace.activations(
        floatsPerFeature: chunk.blocks * lanes, hiddenSize: pass.pointee.hiddenSize,
        projectionSize: pass.pointee.encoder.projectionSize)
    else {
      pass.pointee.state.runOutOfMemory()
      return
    }
    let active = ActiveChunk(chunk: chunk, activations: activations)
    pass.pointee.state.active = active
    pass.pointee.divide(chunk, among: team.threadCount)
    let groups = pass.pointee.shared.groups

    team.run(count: groups, context: pass, whileWaiting: pollWhileWaiting) {
      EncoderPass.at($0).pointee.beginGroup($1, seat: $2)
    }
    for layer in 0..<pass.pointee.encoder.parameters.layers.count {
      guard !pass.pointee.state.isStopped else { return }
      pass.pointee.shared.layer = layer
      team.run(
        count: pass.pointee.attentionTaskCount(chunk), context: pass, whileWaiting: pollWhileWaiting
      ) {
        EncoderPass.at($0).pointee.attendTask($1, seat: $2)
      }
      team.run(count: groups, context: pass, whileWaiting: pollWhileWaiting) {
        EncoderPass.at($0).pointee.advanceGroup($1, seat: $2)
      }
    }
    guard !pass.pointee.state.isStopped else { return }
    for member in chunk.members { pass.pointee.pool(active, pass.pointee.members[member]) }
  }

  /// Chooses the size of the tasks.
  private mutating func divide(_ chunk: ChunkPlan.Chunk, among threads: Int) {
    // A multiple of the number of threads, so that all finish at the same time.
    let needed = (chunk.blocks + encoder.groupBlocks - 1) / encoder.groupBlocks
    shared.groups = min(chunk.blocks, (needed + threads - 1) / threads * threads)

    shared.attention = attentionShare(chunk, keys: chunk.longestWindow, unit: Self.lanes, threads)
    if let alternating = encoder.configuration.alternating {
      let keys = min(chunk.longestWindow, 2 * alternating.reach + Self.localQueries)
      shared.localAttention = attentionShare(chunk, keys: keys, unit: Self.localQueries, threads)
    }
  }

  /// - Parameters:
  ///   - keys: the number of keys that a query attends to.
  ///   - unit: the number of queries in a task is a multiple of it.
  private func attentionShare(
    _ chunk: ChunkPlan.Chunk, keys: Int, unit: Int, _ threads: Int
  ) -> AttentionShare {
    let heads = encoder.configuration.headCount
    let headCost = 4 * Double(chunk.longestWindow * keys * encoder.configuration.headSize)
    let headsPerTask = max(1, min(heads, Int(Self.minimumTaskCost / max(1, headCost))))
    let tasks = chunk.members.count * ((heads + headsPerTask - 1) / headsPerTask)
    let parts = max(1, (4 * threads + tasks - 1) / tasks)
    let queries = max(Self.minimumQueries, (chunk.longestWindow + parts - 1) / parts)
    return AttentionShare(headsPerTask: headsPerTask, queriesPerTask: (queries + unit - 1) / unit * unit)
  }

  /// The share of the current layer.
  private var attentionShare: AttentionShare {
    encoder.parameters.layers[shared.layer].reach == nil ? shared.attention : shared.localAttention
  }

  private var headTasks: Int {
    let headsPerTask = attentionShare.headsPerTask
    return (encoder.configuration.headCount + headsPerTask - 1) / headsPerTask
  }

  private func queryTasks(_ chunk: ChunkPlan.Chunk) -> Int {
    let queriesPerTask = attentionShare.queriesPerTask
    return (chunk.longestWindow + queriesPerTask - 1) / queriesPerTask
  }

  private func attentionTaskCount(_ chunk: ChunkPlan.Chunk) -> Int {
    chunk.members.count * headTasks * queryTasks(chunk)
  }

  private func attendTask(_ task: Int, seat: Int) {
    guard !state.isStopped, let active = state.active else { return }
    let chunk = active.chunk
    let share = attentionShare
    let (part, rest) = (task % queryTasks(chunk), task / queryTasks(chunk))
    let member = members[chunk.members.lowerBound + rest / headTasks]
    let firstHead = rest % headTasks * share.headsPerTask
    let begin = part * share.queriesPerTask
    let end = min(windows[member.window].tokenCount, begin + share.queriesPerTask)
    guard begin < end else { return }
    withScratch(seat: seat, chunk: chunk) { _, scratch throws(BertQAError) in
      for head in firstHead..<min(firstHead + share.headsPerTask, encoder.configuration.headCount) {
        attendInWindow(
          active, layer: shared.layer, member: member, head: head, queries: begin..<end, scratch)
      }
    }
    poll(seat: seat)
  }

  private func beginGroup(_ group: Int, seat: Int) {
    guard !state.isStopped, let active = state.active else { return }
    withScratch(seat: seat, chunk: active.chunk) { _, scratch throws(BertQAError) in
      begin(active, Self.blocks(of: group, of: shared.groups, in: active.chunk), scratch)
    }
    poll(seat: seat)
  }

  private func advanceGroup(_ group: Int, seat: Int) {
    guard !state.isStopped, let active = state.active else { return }
    withScratch(seat: seat, chunk: active.chunk) { _, scratch throws(BertQAError) in
      let blocks = Self.blocks(of: group, of: shared.groups, in: active.chunk)
      advance(active, fromAttentionOf: shared.layer, blocks, scratch)
    }
    poll(seat: seat)
  }
}
