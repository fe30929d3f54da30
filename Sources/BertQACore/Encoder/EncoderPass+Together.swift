extension EncoderPass {
  /// Queries of one attention task: few enough to share a head, enough to be worth a task.
  private static var minimumQueries: Int { 32 }
  /// Operations below which several heads go into one task.
  private static var minimumTaskCost: Double { 2e6 }

  /// Takes one chunk through all layers, sharing each phase among the team.
  static func computeTogether(
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
      pass.pointee.state.outOfMemory.store(true, ordering: .relaxed)
      return
    }
    pass.pointee.shared.active = ActiveChunk(chunk: chunk, activations: activations)
    pass.pointee.divide(chunk, among: team.threadCount)
    let groups = pass.pointee.shared.groups

    team.run(count: groups, context: pass, whileWaiting: pollWhileWaiting) {
      EncoderPass.at($0).pointee.embedGroup($1, seat: $2)
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
        EncoderPass.at($0).pointee.transformGroup($1, seat: $2)
      }
    }
    guard !pass.pointee.state.isStopped, let active = pass.pointee.shared.active else { return }
    for member in chunk.members { pass.pointee.pool(active, pass.pointee.members[member]) }
  }

  /// Chooses the size of the tasks.
  private mutating func divide(_ chunk: ChunkPlan.Chunk, among threads: Int) {
    // A multiple of the number of threads, so that all finish at the same time.
    let needed = (chunk.blocks + encoder.groupBlocks - 1) / encoder.groupBlocks
    shared.groups = min(chunk.blocks, (needed + threads - 1) / threads * threads)

    let tokens = Double(chunk.longestWindow)
    let headDim = encoder.configuration.headSize
    let headCost = 4 * tokens * tokens * Double(headDim)
    let heads = encoder.configuration.headCount
    shared.headsPerTask = max(1, min(heads, Int(Self.minimumTaskCost / max(1, headCost))))
    let tasks = chunk.members.count * ((heads + shared.headsPerTask - 1) / shared.headsPerTask)
    let parts = max(1, (4 * threads + tasks - 1) / tasks)
    let queries = max(Self.minimumQueries, (chunk.longestWindow + parts - 1) / parts)
    shared.queriesPerTask = (queries + Self.lanes - 1) / Self.lanes * Self.lanes
  }

  private var headTasks: Int {
    (encoder.configuration.headCount + shared.headsPerTask - 1) / shared.headsPerTask
  }

  private func queryTasks(_ chunk: ChunkPlan.Chunk) -> Int {
    (chunk.longestWindow + shared.queriesPerTask - 1) / shared.queriesPerTask
  }

  private func attentionTaskCount(_ chunk: ChunkPlan.Chunk) -> Int {
    chunk.members.count * headTasks * queryTasks(chunk)
  }

  private func attendTask(_ task: Int, seat: Int) {
    guard !state.isStopped, let active = shared.active else { return }
    let chunk = active.chunk
    let (part, rest) = (task % queryTasks(chunk), task / queryTasks(chunk))
    let member = members[chunk.members.lowerBound + rest / headTasks]
    let firstHead = rest % headTasks * shared.headsPerTask
    let begin = part * shared.queriesPerTask
    let end = min(windows[member.window].tokenCount, begin + shared.queriesPerTask)
    guard begin < end else { return }
    withScratch(seat: seat, chunk: chunk) { _, scratch throws(BertQAError) in
      for head in firstHead..<min(firstHead + shared.headsPerTask, encoder.configuration.headCount) {
        attend(active, member: member, head: head, queries: begin..<end, scratch)
      }
    }
    poll(seat: seat)
  }

  private func embedGroup(_ group: Int, seat: Int) {
    guard !state.isStopped, let active = shared.active else { return }
    withScratch(seat: seat, chunk: active.chunk) { _, scratch throws(BertQAError) in
      embed(active, Self.blocks(of: group, of: shared.groups, in: active.chunk), scratch)
    }
    poll(seat: seat)
  }

  private func transformGroup(_ group: Int, seat: Int) {
    guard !state.isStopped, let active = shared.active else { return }
    withScratch(seat: seat, chunk: active.chunk) { _, scratch throws(BertQAError) in
      let blocks = Self.blocks(of: group, of: shared.groups, in: active.chunk)
      transform(active, layer: shared.layer, blocks, scratch)
    }
    poll(seat: seat)
  }
}
