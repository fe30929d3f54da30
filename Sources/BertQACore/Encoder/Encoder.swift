import CBertQA

/// A transformer encoder with its head. Immutable: any number of threads may use it at once.
final class Encoder: WindowModel, @unchecked Sendable {
  // Sendable: parameters never change; scratch objects are exclusive while in use.

  /// The maximum number of tokens in a chunk, unless one window is longer. It is large enough to read each
  /// weight for many tokens and small enough for several chunks in a call.
  static let chunkTokens = 512
  /// The bytes of feed-forward activations that a task keeps in the second-level cache.
  private static let intermediateBytes = 800 << 10

  let configuration: ModelConfiguration
  let arithmetic: Arithmetic
  let parameters: Parameters
  let kernels: Kernels
  /// The maximum number of threads for one call; 0: as many as are available.
  let threadLimit: Int
  /// The number of blocks that a task takes through the feed-forward layers at once.
  let groupBlocks: Int
  let workspaces = ObjectPool<Workspace>()
  private let states = ObjectPool<PassState>()

  /// - Parameter task: the index of the task whose adapters are added to the weights; nil: none.
  init(
    model: LoadedModel, precision: Precision, kernels: Kernels, task: Int? = nil, threadLimit: Int,
    _ monitor: CallMonitor = CallMonitor(CallOptions())
  ) throws(BertQAError) {
    configuration = model.configuration
    arithmetic = try Arithmetic(precision, model: model, kernels: kernels)
    let threads = threadLimit > 0 ? threadLimit : ThreadPool.shared.size
    parameters = try Parameters(model, arithmetic, kernels, task: task, threads: threads, monitor)
    self.kernels = kernels
    self.threadLimit = threadLimit
    let bytesPerBlock =
      configuration.intermediateSize * Kernels.lanes * MemoryLayout<Float>.stride
    groupBlocks = max(1, min(4, Self.intermediateBytes / bytesPerBlock))
    // Made here because a fork in another thread could interrupt the first call.
    _ = ThreadPool.shared
  }

  /// True if query, key and value are in bf16.
  var attendsInBF16: Bool { arithmetic == .bf16 }

  /// True if attention takes query, key and value in f32 and multiplies them as bytes.
  var attendsInInt8: Bool { arithmetic.attendsInInt8(configuration, kernels) }

  /// The floats of scratch memory that attention needs for a window.
  func attentionScratch(tokens: Int) -> Int {
    let own =
      attendsInInt8
      ? bq_attention_s8_scratch(tokens, configuration.headSize)
      : bq_attention_scratch(tokens)
    if configuration.hasGlobalTokens {
      return DistanceScratch.aligned(own)
        + GatheredKeys.count(tokens: tokens, headSize: configuration.headSize)
    }
    return distanceScratch(tokens: tokens)?.count(after: own) ?? own
  }

  /// The scratch memory that attention by distance needs, after attention's own.
  func distanceScratch(tokens: Int) -> DistanceScratch? {
    parameters.distances.map {
      DistanceScratch(tokens: tokens, rowCount: $0.attention.rowCount, headSize: configuration.headSize)
    }
  }

  /// The number of projections: query, key and value, and those of global tokens.
  var projectionCount: Int { configuration.hasGlobalTokens ? 6 : 3 }

  /// The bytes of one element of query, key and value.
  var projectionSize: Int {
    attendsInBF16 ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride
  }

  func outputs(
    of batch: WindowBatch, giving input: HeadInput? = nil, _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> HeadOutputs {
    let input = input ?? parameters.head.input
    let vectorSize = configuration.hiddenSize * input.vectorCount
    let head = parameters.head.reading(input, hidden: vectorSize)
    let hasLayers = !head.layers.isEmpty
    guard !hasLayers || head.layers[0].linear.ins == vectorSize else {
      throw BertQAError(.internal, "the model's head does not read this input")
    }
    let rows = input == .tokens ? batch.ids.count : batch.windows.count
    let columns = head.columns
    try Memory.require(rows * columns, of: Float.self)
    // The results, the vectors that the head reads, and the plan with at most one chunk per window.
    let vectors = input != .tokens && hasLayers ? vectorSize : 0
    try monitor?.holdWork(
      (rows * columns + batch.windows.count * vectors) * MemoryLayout<Float>.stride
        + batch.windows.count * MemoryLayout<(ChunkPlan.Member, ChunkPlan.Chunk)>.stride)
    var values = [Float](repeating: 0, count: rows * columns)
    try values.withMutableElements { values throws(BertQAError) in
      // Without rows there is nothing to write.
      guard let base = values.baseAddress else { return }
      try batch.ids.withElements { ids throws(BertQAError) in
        try batch.windows.withElements { windows throws(BertQAError) in
          try check(ids, windows)
          try run(ids, windows, head, EncoderPass.Output(input: input, values: base), monitor)
        }
      }
    }
    return HeadOutputs(input: input, columns: columns, values: values)
  }

  private func run(
    _ ids: UnsafeBufferPointer<Int32>, _ windows: UnsafeBufferPointer<Window>,
    _ head: Head, _ output: EncoderPass.Output, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let state = states.take() ?? PassState()
    defer { states.give(state) }
    // The vectors that the head reads. Without layers they are the result.
    var vectors = AlignedBuffer<Float>()
    var windowVectors = output.values
    if output.input != .tokens, !head.layers.isEmpty {
      try vectors.reserve(windows.count * configuration.hiddenSize * output.input.vectorCount)
      windowVectors = vectors.base
    }
    // With less than a block of tokens per thread, waking a thread costs more than it saves.
    let threads = threadLimit > 0 ? threadLimit : ThreadPool.shared.size
    let team = ThreadPool.Team(maxThreads: max(1, min(threads, ids.count / Kernels.lanes)))
    state.plan.make(windows, budget: Self.chunkTokens, threads: team.threadCount, costs: costs)
    try state.plan.withUnsafeBuffers { chunks, members throws(BertQAError) in
      var pass = EncoderPass(
        encoder: self, state: state, ids: ids, windows: windows, chunks: chunks, members: members,
        output: output, head: head, readTokens: ReadTokens(output.input), windowVectors: windowVectors,
        monitor: monitor)
      try pass.run(team: team)
    }
  }

  /// The operations of one layer: four matrices of hidden², two of hidden · intermediate, and bottlenecks. Each pair
  /// of tokens adds a product with the key, one with the value, about as much for the softmax, and the products with
  /// distance vectors.
  private var costs: ChunkPlan.CostModel {
    let (hidden, intermediate) = (Double(configuration.hiddenSize), Double(configuration.intermediateSize))
    let width = Double(configuration.layerWidth)
    let feedForwards = Double(1 + configuration.narrow.feedForwardCount)
    let bottlenecks = configuration.narrow.width == nil ? 0 : 3 * hidden * width
    return ChunkPlan.CostModel(
      perToken: 2 * (4 * width * width + 2 * width * intermediate * feedForwards + bottlenecks),
      perTokenPair: (8 + 3 * Double(configuration.disentangled?.distanceProductCount ?? 0)) * width)
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
        window.firstToken <= ids.count - window.tokenCount,
        window.unattendedCount >= 0, window.tokenCount == 0 || window.unattendedCount < window.tokenCount
      else {
        throw BertQAError(
          .internal,
          "window of \(window.tokenCount) tokens at \(window.firstToken) outside the batch's "
            + "\(ids.count)")
      }
    }
    // As an unsigned number a negative id is a large one.
    let rows = UInt32(clamping: configuration.vocabSize)
    for id in ids where UInt32(bitPattern: id) >= rows {
      throw BertQAError(.internal, "token id \(id) outside the model's vocabulary of \(rows)")
    }
  }
}
