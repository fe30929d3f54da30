/// A BERT encoder with its question-answering head, in f32. Immutable: any number of threads may use
/// it at once.
final class Encoder: LogitsSource, @unchecked Sendable {
  // Sendable: parameters never change; scratch objects are exclusive while in use.

  /// Tokens a chunk has at most, unless one window is longer. Enough to read each weight for many
  /// tokens; small enough to have several chunks in a call.
  static let chunkTokens = 512
  /// Bytes of feed-forward activations that a task keeps in the second-level cache.
  private static let intermediateBytes = 400 << 10

  let configuration: ModelConfiguration
  let parameters: FloatParameters
  let kernels: Kernels
  /// Threads that a call may use; 0: as many as are available.
  let threadLimit: Int
  /// Blocks that a task takes through the feed-forward layers at once.
  let groupBlocks: Int
  let workspaces = ObjectPool<Workspace>()
  private let states = ObjectPool<PassState>()

  init(model: LoadedModel, kernels: Kernels, threadLimit: Int) throws(BertQAError) {
    configuration = model.configuration
    parameters = try FloatParameters(model)
    self.kernels = kernels
    self.threadLimit = threadLimit
    let bytesPerBlock =
      configuration.intermediateSize * Kernels.lanes * MemoryLayout<Float>.stride
    groupBlocks = max(1, min(8, Self.intermediateBytes / bytesPerBlock))
  }

  func logits(
    of batch: WindowBatch, cancellation: Cancellation? = nil
  ) throws(BertQAError) -> (start: [Float], end: [Float]) {
    try check(batch)
    var start = [Float](repeating: 0, count: batch.ids.count)
    var end = start
    let state = states.take() ?? PassState()
    defer { states.give(state) }
    // A thread with less than a block of its own is not worth waking.
    let threads = threadLimit > 0 ? threadLimit : ThreadPool.shared.size
    let team = ThreadPool.Team(
      maxThreads: max(1, min(threads, batch.ids.count / Kernels.lanes)))
    state.plan.make(
      batch.windows, budget: Self.chunkTokens, threads: team.threadCount, costs: costs)

    try start.withUnsafeMutableBufferPointer { start throws(BertQAError) in
      try end.withUnsafeMutableBufferPointer { end throws(BertQAError) in
        try batch.ids.withUnsafeBufferPointer { ids throws(BertQAError) in
          try batch.windows.withUnsafeBufferPointer { windows throws(BertQAError) in
            var pass = EncoderPass(
              encoder: self, state: state, ids: ids, windows: windows, start: start, end: end,
              cancellation: cancellation)
            try pass.run(team: team)
          }
        }
      }
    }
    return (start, end)
  }

  /// Operations of one layer: four matrices of hidden², two of hidden · intermediate; for each pair
  /// of tokens one product with the key, one with the value, and about as much for the softmax.
  private var costs: ChunkPlan.CostModel {
    let (hidden, intermediate) = (Double(configuration.hiddenSize), Double(configuration.intermediateSize))
    return ChunkPlan.CostModel(
      perToken: 2 * (4 * hidden * hidden + 2 * hidden * intermediate), perTokenPair: 8 * hidden)
  }

  private func check(_ batch: WindowBatch) throws(BertQAError) {
    for window in batch.windows {
      guard window.tokenCount <= configuration.maxPositions else {
        throw BertQAError(
          .invalidArgument,
          "a window has \(window.tokenCount) tokens; this model takes at most "
            + "\(configuration.maxPositions)")
      }
      guard window.firstToken >= 0, window.tokenCount >= 0,
        window.firstToken <= batch.ids.count - window.tokenCount
      else {
        throw BertQAError(
          .internal,
          "window of \(window.tokenCount) tokens at \(window.firstToken) outside the batch's "
            + "\(batch.ids.count)")
      }
    }
    let rows = configuration.vocabSize
    for id in batch.ids where id < 0 || Int(id) >= rows {
      throw BertQAError(.internal, "token id \(id) outside the model's vocabulary of \(rows)")
    }
  }
}
