extension EncoderPass {
  /// Applies a head of tokens to some blocks of a chunk that has been through all layers.
  func applyTokenHead(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    let columns = head.columns
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    let numbers = head.apply(
      hidden, blocks: blocks.count, scratch: scratch.head, encoder.kernels)
    forEachWindow(active.chunk, blocks) { window, tokens, lane in
      for token in tokens {
        let at = lane + token - tokens.lowerBound - blocks.lowerBound * Self.lanes
        let row = numbers + at / Self.lanes * columns * Self.lanes + at % Self.lanes
        let target = output.values + window.firstToken + token
        for column in 0..<columns { target[column * ids.count] = row[column * Self.lanes] }
      }
    }
  }

  /// Keeps the windows' vectors if the pass is for windows. The chunk must have been through all layers.
  func pool(_ active: ActiveChunk) {
    guard case .window(let pooling) = output.input else { return }
    let slots = readTokens.slots
    for (ordinal, member) in active.chunk.members.enumerated() {
      let window = members[member].window
      // A window keeps as many tokens as it has slots.
      let lane = readTokens.isAll ? members[member].lane : ordinal * slots
      let tokens = readTokens.isAll ? windows[window].unpooledCount..<windows[window].tokenCount : 0..<slots
      for (index, mode) in pooling.modes.enumerated() {
        pool(active, lane: lane, tokens, mode, into: windowVectors + window * vectorSize + index * hiddenSize)
      }
    }
  }

  private func pool(
    _ active: ActiveChunk, lane: Int, _ tokens: Range<Int>, _ mode: TokenPooling.Mode,
    into vector: UnsafeMutablePointer<Float>
  ) {
    let blockFloats = hiddenSize * Self.lanes
    let first = active.activations.hidden + lane / Self.lanes * blockFloats
    let lane = lane % Self.lanes
    /// The number of a feature for a token.
    func value(_ feature: Int, _ token: Int) -> Float {
      let at = lane + token
      return first[at / Self.lanes * blockFloats + feature * Self.lanes + at % Self.lanes]
    }
    switch mode {
    case .first:
      for feature in 0..<hiddenSize { vector[feature] = value(feature, tokens.lowerBound) }
    case .last:
      for feature in 0..<hiddenSize { vector[feature] = value(feature, tokens.upperBound - 1) }
    case .max:
      for feature in 0..<hiddenSize {
        vector[feature] = tokens.dropFirst().reduce(value(feature, tokens.lowerBound)) {
          Swift.max($0, value(feature, $1))
        }
      }
    case .weighted:
      // The weights' sum.
      let scale = 2 / (Float(tokens.count) * Float(tokens.lowerBound + 1 + tokens.upperBound))
      for feature in 0..<hiddenSize {
        vector[feature] = scale * tokens.reduce(0) { $0 + Float($1 + 1) * value(feature, $1) }
      }
    case .mean, .meanOfRoot:
      let scale = 1 / (mode == .mean ? Float(tokens.count) : Float(tokens.count).squareRoot())
      for feature in 0..<hiddenSize {
        vector[feature] =
          scale
          * (tokens.lowerBound == 0
            ? sum(first + feature * Self.lanes, lane: lane, tokens.count, blockFloats)
            : tokens.reduce(0) { $0 + value(feature, $1) })
      }
    }
  }

  /// Adds up one feature's row in `block` over a window's tokens. The first one is at `lane`, a multiple of
  /// 4. Four sums take every fourth token each, so the order does not depend on the window's place.
  private func sum(
    _ block: UnsafePointer<Float>, lane: Int, _ tokens: Int, _ blockFloats: Int
  ) -> Float {
    var sums = SIMD4<Float>.zero
    var block = block
    var lane = lane
    for _ in 0..<tokens / 4 {
      sums += UnsafeRawPointer(block + lane).loadUnaligned(as: SIMD4<Float>.self)
      lane += 4
      if lane == Self.lanes {
        lane = 0
        block += blockFloats
      }
    }
    // The lanes after the window belong to another window or are unused.
    for rest in 0..<tokens % 4 { sums[rest] += block[lane + rest] }
    return (sums[0] + sums[1]) + (sums[2] + sums[3])
  }

  // MARK: - Heads of windows

  /// The number of windows that a task takes through a head at once: a few of the kernels' blocks.
  private static var windowsPerTask: Int { 4 * lanes }

  /// Takes the vectors of all windows through the head, if the pass is for windows and the head has layers.
  mutating func runHead(team: borrowing ThreadPool.Team) throws(BertQAError) {
    guard output.input != .tokens, !head.layers.isEmpty, !state.isStopped else { return }
    let tasks = (windows.count + Self.windowsPerTask - 1) / Self.windowsPerTask
    withUnsafeMutablePointer(to: &self) { pass in
      team.run(count: tasks, context: pass, whileWaiting: Self.pollWhileWaiting) {
        EncoderPass.at($0).pointee.applyWindowHead(task: $1, seat: $2)
      }
    }
  }

  private func applyWindowHead(task: Int, seat: Int) {
    guard !state.isStopped else { return }
    let part = task * Self.windowsPerTask..<min((task + 1) * Self.windowsPerTask, windows.count)
    let columns = head.columns
    let blocks = Kernels.blocks(tokens: part.count)
    let workspace = encoder.workspaces.take(preferring: seat) ?? Workspace()
    defer { encoder.workspaces.give(workspace, preferring: seat) }
    guard
      let memory = try? workspace.headMemory(
        vectors: blocks * vectorSize * Self.lanes, scratch: head.scratchCount(blocks: blocks))
    else { return state.runOutOfMemory() }
    // [window][feature] to [block][feature][16]
    for (lane, window) in part.enumerated() {
      let column = memory.vectors + lane / Self.lanes * vectorSize * Self.lanes + lane % Self.lanes
      let vector = windowVectors + window * vectorSize
      for feature in 0..<vectorSize { column[feature * Self.lanes] = vector[feature] }
    }
    let numbers = head.apply(memory.vectors, blocks: blocks, scratch: memory.scratch, encoder.kernels)
    for (lane, window) in part.enumerated() where windows[window].tokenCount > 0 {
      let row = numbers + lane / Self.lanes * columns * Self.lanes + lane % Self.lanes
      for column in 0..<columns { output.values[window * columns + column] = row[column * Self.lanes] }
    }
    poll(seat: seat)
  }
}
