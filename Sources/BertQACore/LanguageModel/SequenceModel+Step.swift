extension SequenceModel {
  /// Reads one word in each of many independent states: `ids[i]` in `states[i]`, nil starting a sequence.
  /// - Parameter logits: [ids.count][vocabulary], or nil where they are not wanted.
  func step(
    ids: UnsafeBufferPointer<Int32>, states: [SequenceState?],
    logits: UnsafeMutablePointer<Float>? = nil
  ) throws(BertQAError) -> [SequenceState] {
    for (index, id) in ids.enumerated() where !isWord(id) {
      throw BertQAError(
        .invalidArgument,
        "ids[\(index)] is \(id), but must be 0 to \(configuration.vocabularySize - 1)")
    }
    for (index, state) in states.enumerated() {
      if let state { try check(state, "states[\(index)]") }
    }
    var next: [SequenceState] = []
    next.reserveCapacity(ids.count)
    for _ in ids.indices { next.append(try makeState()) }

    let cost = configuration.recurrentCost + (logits == nil ? 0 : configuration.decoderCost)
    let together = min(ids.count, Self.chunkSequences)
    let team = ThreadPool.Team(maxThreads: SequencePass.threads(self, cost: together * cost))
    try withWorkspace(sequences: together) { workspace throws(BertQAError) in
      for first in stride(from: 0, to: ids.count, by: Self.chunkSequences) {
        var pass = SequencePass(self, workspace, count: min(Self.chunkSequences, ids.count - first))
        for offset in 0..<pass.count {
          workspace.sources.base[offset] = states[first + offset]?.base ?? zeroState
          workspace.targets.base[offset] = next[first + offset].base
        }
        guard let ids = ids.baseAddress else { return }
        pass.advance(ids: ids + first, team: team)
        if let logits { pass.decode(to: logits + first * configuration.vocabularySize, team: team) }
      }
    }
    return next
  }

  /// Reads one word.
  func step(
    id: Int32, state: SequenceState?, logits: UnsafeMutablePointer<Float>? = nil
  ) throws(BertQAError) -> SequenceState {
    let next = try makeState()
    let cost = configuration.recurrentCost + (logits == nil ? 0 : configuration.decoderCost)
    let team = ThreadPool.Team(maxThreads: SequencePass.threads(self, cost: cost))
    try withWorkspace(sequences: 1) { workspace throws(BertQAError) in
      workspace.sources.base[0] = state?.base ?? zeroState
      workspace.targets.base[0] = next.base
      var pass = SequencePass(self, workspace, count: 1)
      withUnsafePointer(to: id) { pass.advance(ids: $0, team: team) }
      if let logits { pass.decode(to: logits, team: team) }
    }
    return next
  }

  /// The logits of what follows a state.
  func decode(_ state: SequenceState, to logits: UnsafeMutablePointer<Float>) throws(BertQAError) {
    let team = ThreadPool.Team(maxThreads: SequencePass.threads(self, cost: configuration.decoderCost))
    try withWorkspace(sequences: 1) { workspace throws(BertQAError) in
      workspace.targets.base[0] = state.base
      var pass = SequencePass(self, workspace, count: 1)
      pass.decode(to: logits, team: team)
    }
  }

  func isWord(_ id: Int32) -> Bool { id >= 0 && Int(id) < configuration.vocabularySize }

  func makeState() throws(BertQAError) -> SequenceState {
    try SequenceState(count: configuration.stateLength, fingerprint: fingerprint)
  }

  /// Runs `body` with scratch memory for so many sequences at once.
  func withWorkspace<Result>(
    sequences: Int, _ body: (SequenceWorkspace) throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    let workspace = workspaces.take() ?? SequenceWorkspace()
    defer { workspaces.give(workspace) }
    try workspace.reserve(sequences: sequences, for: configuration)
    return try body(workspace)
  }
}
