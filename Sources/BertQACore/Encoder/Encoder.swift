import CBertQA

/// A BERT encoder with its question-answering head, if it has one. Immutable: any number of threads may
/// use it at once.
final class Encoder: LogitsSource, @unchecked Sendable {
  // Sendable: parameters never change; scratch objects are exclusive while in use.

  /// Tokens a chunk has at most, unless one window is longer. Enough to read each weight for many
  /// tokens; small enough to have several chunks in a call.
  static let chunkTokens = 512
  /// Bytes of feed-forward activations that a task keeps in the second-level cache.
  private static let intermediateBytes = 800 << 10

  let configuration: ModelConfiguration
  let arithmetic: Arithmetic
  let parameters: Parameters
  let kernels: Kernels
  /// Threads that a call may use; 0: as many as are available.
  let threadLimit: Int
  /// Blocks that a task takes through the feed-forward layers at once.
  let groupBlocks: Int
  let workspaces = ObjectPool<Workspace>()
  private let states = ObjectPool<PassState>()

  init(
    model: LoadedModel, precision: Precision, kernels: Kernels, threadLimit: Int
  ) throws(BertQAError) {
    configuration = model.configuration
    arithmetic = try Arithmetic(precision, model: model, kernels: kernels)
    parameters = try Parameters(model, arithmetic)
    self.kernels = kernels
    self.threadLimit = threadLimit
    let bytesPerBlock =
      configuration.intermediateSize * Kernels.lanes * MemoryLayout<Float>.stride
    groupBlocks = max(1, min(4, Self.intermediateBytes / bytesPerBlock))
    // Here rather than in the first call, which a fork in another thread might interrupt.
    _ = ThreadPool.shared
  }

  /// Whether query, key and value are bf16.
  var attendsInBF16: Bool { arithmetic == .bf16 }

  /// Whether attention takes f32 query, key and value and multiplies them as bytes.
  var attendsInInt8: Bool {
    arithmetic == .int8 && kernels.table.attention_s8 != nil
      && configuration.headSize % 4 == 0
  }

  /// Floats of scratch that attention needs for a window.
  func attentionScratch(tokens: Int) -> Int {
    attendsInInt8
      ? bq_attention_s8_scratch(tokens, configuration.headSize)
      : bq_attention_scratch(tokens)
  }

  /// Bytes of an element of query, key and value.
  var projectionSize: Int {
    attendsInBF16 ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride
  }

  func logits(
    of batch: WindowBatch, cancellation: Cancellation? = nil
  ) throws(BertQAError) -> (start: [Float], end: [Float]) {
    guard case .questionAnswering = parameters.head else {
      throw BertQAError(.internal, "start and end logits of a model without a question-answering head")
    }
    var start = [Float](repeating: 0, count: batch.ids.count)
    var end = [Float](repeating: 0, count: batch.ids.count)
    try withBase(of: &start) { start throws(BertQAError) in
      try withBase(of: &end) { end throws(BertQAError) in
        try run(batch, .tokenLogits(start: start, end: end), cancellation)
      }
    }
    return (start, end)
  }

  /// One vector of the last layer per window, [windows][hidden]; zeros for windows without tokens.
  func vectors(
    _ kind: WindowVector, of batch: WindowBatch, cancellation: Cancellation? = nil
  ) throws(BertQAError) -> [Float] {
    var vectors = [Float](repeating: 0, count: batch.windows.count * configuration.hiddenSize)
    try withBase(of: &vectors) { vectors throws(BertQAError) in
      try run(batch, .windowVectors(vectors, kind), cancellation)
    }
    return vectors
  }

  private func run(
    _ batch: WindowBatch, _ output: EncoderPass.Output, _ cancellation: Cancellation?
  ) throws(BertQAError) {
    try batch.ids.withUnsafeBufferPointer { ids throws(BertQAError) in
      try batch.windows.withUnsafeBufferPointer { windows throws(BertQAError) in
        try check(ids, windows)
        try run(ids, windows, output, cancellation)
      }
    }
  }

  private func run(
    _ ids: UnsafeBufferPointer<Int32>, _ windows: UnsafeBufferPointer<Window>,
    _ output: EncoderPass.Output, _ cancellation: Cancellation?
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
        output: output, cancellation: cancellation)
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

/// Runs `body` with the address of an array's elements, which is not to be read where there are none.
private func withBase<Element: BitwiseCopyable>(
  of array: inout [Element], _ body: (UnsafeMutablePointer<Element>) throws(BertQAError) -> Void
) throws(BertQAError) {
  try array.withUnsafeMutableBufferPointer { buffer throws(BertQAError) in
    try body(buffer.baseAddress ?? UnsafeMutablePointer(bitPattern: 64).unsafelyUnwrapped)
  }
}
