import Synchronization

/// A BERT encoder with its question-answering head, in f32. Immutable: any number of threads may use
/// it at once.
final class Encoder: LogitsSource, @unchecked Sendable {
  // Sendable: parameters never change; scratch objects are exclusive while in use.

  /// Tokens a chunk has at most, unless one window is longer. Enough to read each weight for many
  /// tokens; small enough to have several chunks in a call.
  static let chunkTokens = 512
  /// Bytes of feed-forward activations that a task keeps in the second-level cache.
  private static let intermediateBytes = 800 << 10

  let configuration: ModelConfiguration
  let parameters: FloatParameters
  let kernels: Kernels
  /// Threads that a call may use; 0: as many as are available.
  let threadLimit: Int
  /// Blocks that a task takes through the feed-forward layers at once.
  let groupBlocks: Int
  let workspaces = ObjectPool<Workspace>()
  private let states = ObjectPool<PassState>()
  /// Some encoder of this process has: see `ForkGuard`.
  private static let hasRun = Atomic<Bool>(false)

  init(model: LoadedModel, kernels: Kernels, threadLimit: Int) throws(BertQAError) {
    configuration = model.configuration
    parameters = try ForkGuard.hold { () throws(BertQAError) in try FloatParameters(model) }
    self.kernels = kernels
    self.threadLimit = threadLimit
    let bytesPerBlock =
      configuration.intermediateSize * Kernels.lanes * MemoryLayout<Float>.stride
    groupBlocks = max(1, min(4, Self.intermediateBytes / bytesPerBlock))
    if !Self.hasRun.load(ordering: .acquiring) {
      let token = WindowBatch(
        ids: [0], windows: [Window(firstToken: 0, tokenCount: 1, secondSegment: 1)])
      try ForkGuard.hold { () throws(BertQAError) in _ = try logits(of: token) }
      Self.hasRun.store(true, ordering: .releasing)
    }
  }

  func logits(
    of batch: WindowBatch, cancellation: Cancellation? = nil
  ) throws(BertQAError) -> (start: [Float], end: [Float]) {
    var start = [Float](repeating: 0, count: batch.ids.count)
    var end = [Float](repeating: 0, count: batch.ids.count)
    try start.withUnsafeMutableBufferPointer { start throws(BertQAError) in
      try end.withUnsafeMutableBufferPointer { end throws(BertQAError) in
        try batch.ids.withUnsafeBufferPointer { ids throws(BertQAError) in
          try batch.windows.withUnsafeBufferPointer { windows throws(BertQAError) in
            try check(ids, windows)
            try run(ids, windows, start, end, cancellation)
          }
        }
      }
    }
    return (start, end)
  }

  private func run(
    _ ids: UnsafeBufferPointer<Int32>, _ windows: UnsafeBufferPointer<Window>,
    _ start: UnsafeMutableBufferPointer<Float>, _ end: UnsafeMutableBufferPointer<Float>,
    _ cancellation: Cancellation?
  ) throws(BertQAError) {
    let state = states.take() ?? PassState()
    defer { states.give(state) }
    // A thread with less than a block of its own is not worth waking.
    let threads = threadLimit > 0 ? threadLimit : ThreadPool.shared.size
    let team = ThreadPool.Team(maxThreads: max(1, min(threads, ids.count / Kernels.lanes)))
    state.plan.make(windows, budget: Self.chunkTokens, threads: team.threadCount, costs: costs)
    try state.plan.withUnsafeBuffers { chunks, members throws(BertQAError) in
      var pass = EncoderPass(
        encoder: self, state: state, ids: ids, windows: windows, chunks: chunks, members: members,
        start: start, end: end, cancellation: cancellation)
      try pass.run(team: team)
    }
  }

  /// Operations of one layer: four matrices of hidden², two of hidden · intermediate; for each pair
  /// of tokens one product with the key, one with the value, and about as much for the softmax.
  private var costs: ChunkPlan.CostModel {
    let (hidden, intermediate) = (Double(configuration.hiddenSize), Double(configuration.intermediateSize))
    return ChunkPlan.CostModel(
      perToken: 2 * (4 * hidden * hidden + 2 * hidden * intermediate), perTokenPair: 8 * hidden)
  }

  private func check(
    _ ids: UnsafeBufferPointer<Int32>, _ windows: UnsafeBufferPointer<Window>
  ) throws(BertQAError) {
    for window in windows {
      guard window.tokenCount <= configuration.maxPositions else {
        throw BertQAError(
          .invalidArgument,
          "a window has \(window.tokenCount) tokens; this model takes at most "
            + "\(configuration.maxPositions)")
      }
      guard window.firstToken >= 0, window.tokenCount >= 0,
        window.firstToken <= ids.count - window.tokenCount
      else {
        throw BertQAError(
          .internal,
          "window of \(window.tokenCount) tokens at \(window.firstToken) outside the batch's "
            + "\(ids.count)")
      }
    }
    // Negative ids are large ones without the sign.
    let rows = UInt32(clamping: configuration.vocabSize)
    for id in ids where UInt32(bitPattern: id) >= rows {
      throw BertQAError(.internal, "token id \(id) outside the model's vocabulary of \(rows)")
    }
  }
}
