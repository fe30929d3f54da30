extension EncoderPass {
  /// The queries of one attention task: few enough to divide a head among tasks, enough to be worth a task.
  private static var minimumQueries: Int { 32 }
  /// The operations below which several heads share a task.
  private static var minimumTaskCost: Double { 2e6 }

  /// Takes one chunk through all layers and divides each phase among the team.
  static func computeTogether(
    _ pass: UnsafeMutablePointer<EncoderPass>, chunk index: Int, team: borrowing ThreadPool.Team
  ) {
    let chunk = pass.pointee.chunks[index]
    let workspaces = pass.pointee.encoder.workspaces
    let workspace = workspaces.take() ?? Workspace()
    defer { workspaces.give(workspace) }
    guard
      let activations = try? workspace.activations(
        floatsPerFeature: chunk.blocks * lanes, pass.pointee.encoder.configuration,
        projectionSize: pass.pointee.encoder.projectionCount * pass.pointee.encoder.projectionSize)
    else {
      pass.pointee.state.runOutOfMemory()
      return
    }
    let active = ActiveChunk(chunk: chunk, activations: activations)
    pass.pointee.state.active = active
    pass.pointee.divideBlocks(chunk.blocks, among: team.threadCount)

    team.run(count: pass.pointee.shared.groups, context: pass, whileWaiting: pollWhileWaiting) {
      EncoderPass.at($0).pointee.beginGroup($1, seat: $2)
    }
    for layer in 0..<pass.pointee.encoder.parameters.layers.count {
      guard !pass.pointee.state.isStopped else { return }
      pass.pointee.shared.layer = layer
      pass.pointee.shared.attention = pass.pointee.attentionShare(chunk, layer: layer, team.threadCount)
      team.run(
        count: pass.pointee.attentionTaskCount(chunk), context: pass, whileWaiting: pollWhileWaiting
      ) {
        EncoderPass.at($0).pointee.attendTask($1, seat: $2)
      }
      guard !pass.pointee.state.isStopped else { return }
      if pass.pointee.readsTokens(inLayer: layer) {
        pass.pointee.gatherReadTokens(active)
        pass.pointee.divideBlocks(pass.pointee.blocks(toFinish: layer, of: chunk), among: team.threadCount)
      }
      team.run(count: pass.pointee.shared.groups, context: pass, whileWaiting: pollWhileWaiting) {
        EncoderPass.at($0).pointee.advanceGroup($1, seat: $2)
      }
    }
    guard !pass.pointee.state.isStopped else { return }
    pass.pointee.pool(active)
  }

  /// Chooses the size of the tasks that finish a layer.
  private mutating func divideBlocks(_ blocks: Int, among threads: Int) {
    shared.blocks = blocks
    // A multiple of the number of threads, so that all finish at the same time.
    let needed = (blocks + encoder.groupBlocks - 1) / encoder.groupBlocks
    shared.groups = min(blocks, (needed + threads - 1) / threads * threads)
  }

  /// Chooses the size of the tasks of a layer's attention.
  private func attentionShare(_ chunk: ChunkPlan.Chunk, layer: Int, _ threads: Int) -> AttentionShare {
    if readsTokens(inLayer: layer) {
      let headsPerTask = headsPerTask(queries: Self.lanes * readTokens.slots, keys: chunk.longestWindow)
      return AttentionShare(headsPerTask: headsPerTask, queriesPerTask: chunk.longestWindow)
    }
    guard let reach = encoder.parameters.layers[layer].reach else {
      return attentionShare(chunk, keys: chunk.longestWindow, unit: Self.lanes, threads)
    }
    let unit = Self.localQueries(reach: reach)
    return attentionShare(chunk, keys: min(chunk.longestWindow, 2 * reach + unit), unit: unit, threads)
  }

  private func headsPerTask(queries: Int, keys: Int) -> Int {
    let headCost = 4 * Double(queries * keys * encoder.configuration.headSize)
    return max(1, min(encoder.configuration.headCount, Int(Self.minimumTaskCost / max(1, headCost))))
  }

  /// - Parameters:
  ///   - keys: the number of keys that a query attends to.
  ///   - unit: the number of queries in a task is a multiple of it.
  private func attentionShare(
    _ chunk: ChunkPlan.Chunk, keys: Int, unit: Int, _ threads: Int
  ) -> AttentionShare {
    let heads = encoder.configuration.headCount
    let headsPerTask = headsPerTask(queries: chunk.longestWindow, keys: keys)
    let tasks = chunk.members.count * ((heads + headsPerTask - 1) / headsPerTask)
    let parts = max(1, (4 * threads + tasks - 1) / tasks)
    let queries = max(Self.minimumQueries, (chunk.longestWindow + parts - 1) / parts)
    return AttentionShare(headsPerTask: headsPerTask, queriesPerTask: (queries + unit - 1) / unit * unit)
  }

  private var headTasks: Int {
    let headsPerTask = shared.attention.headsPerTask
    return (encoder.configuration.headCount + headsPerTask - 1) / headsPerTask
  }

  private func queryTasks(_ chunk: ChunkPlan.Chunk) -> Int {
    let queriesPerTask = shared.attention.queriesPerTask
    return (chunk.longestWindow + queriesPerTask - 1) / queriesPerTask
  }

  private func attentionTaskCount(_ chunk: ChunkPlan.Chunk) -> Int {
    chunk.members.count * headTasks * queryTasks(chunk)
  }

  private func attendTask(_ task: Int, seat: Int) {
    guard !state.isStopped, let active = state.active else { return }
    let chunk = active.chunk
    let share = shared.attention
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
      begin(active, Self.blocks(of: group, of: shared.groups, in: shared.blocks), scratch)
    }
    poll(seat: seat)
  }

  private func advanceGroup(_ group: Int, seat: Int) {
    guard !state.isStopped, let active = state.active else { return }
    withScratch(seat: seat, chunk: active.chunk) { _, scratch throws(BertQAError) in
      let blocks = Self.blocks(of: group, of: shared.groups, in: shared.blocks)
      advance(active, fromAttentionOf: shared.layer, blocks, scratch)
    }
    poll(seat: seat)
  }
}
