import CBertQA

/// A recurrent language model: an embedding, LSTM or GRU layers, and a linear decoder. Immutable: any number
/// of threads may use it at once.
///
/// The arithmetic is that of PyTorch's `nn.LSTM` and `nn.GRU` in f32. Weights of two bytes are widened when
/// they are used. LSTM: Hochreiter & Schmidhuber 1997, *Long Short-Term Memory*; GRU: Cho et al. 2014.
final class SequenceModel: @unchecked Sendable {
  // Sendable: parameters never change; workspaces are exclusive while in use.

  /// The maximum number of sequences that go through the layers together; more are computed in turns.
  static let chunkSequences = 64

  struct Matrix {
    /// [outs][ins]
    let elements: UnsafeRawPointer
    /// A `BQ_FORMAT_…`.
    let format: Int32
    let outs: Int
    let ins: Int
    /// [outs]
    let bias: UnsafePointer<Float>

    /// The bytes of one row.
    var rowSize: Int { ins * (format == Int32(BQ_FORMAT_F32) ? 4 : 2) }
  }

  struct Layer {
    /// The weights from the layer's input to the gates, and from its own h.
    let input: Matrix
    let state: Matrix
  }

  /// The name of the model's directory in messages.
  let directory: String
  let configuration: SequenceConfiguration
  let words: WordVocabulary
  /// [vocabulary, embedding]
  let embedding: TensorView
  let layers: [Layer]
  let decoder: Matrix
  /// The state before the first word. Never written.
  let zeroState: UnsafeMutablePointer<Float>
  /// Distinguishes this model from others: a hash of its shape and weights.
  let fingerprint: UInt64
  let kernels: Kernels
  /// The maximum number of threads for one call; 0: as many as are available.
  let threadLimit: Int
  let workspaces = ObjectPool<SequenceWorkspace>()
  private let owners: [any AnyObject & Sendable]

  /// Loads a directory with `config.json`, `vocab.txt` and safetensors. Weights are used in the mapping. All
  /// are read once, for the fingerprint.
  /// - Parameter source: `config.json`.
  init(
    _ directory: ModelDirectory, _ source: ObjectReader, kernels: Kernels, threadLimit: Int
  ) throws(BertQAError) {
    let configuration = try SequenceConfiguration(source)
    let monitor = directory.monitor
    let loader = WeightLoader(try Checkpoint(directory), prefix: "", monitor)
    let weights = try SequenceWeights(loader, configuration)
    words = try WordVocabulary(
      configuration, file: directory.file("vocab.txt", limit: ModelFile.vocabularyLimit), monitor)

    var converter = ParameterConverter(.f32)
    let longest = max(
      configuration.stateLength, configuration.cell.gateCount * configuration.hiddenSize,
      configuration.vocabularySize)
    let zeros = try converter.take(Float.self, count: longest)
    zeros.initialize(repeating: 0, count: longest)
    var layers: [Layer] = []
    for layer in weights.layers {
      layers.append(
        Layer(
          input: try converter.matrix(layer.input, bias: layer.inputBias, zeros: zeros),
          state: try converter.matrix(layer.state, bias: layer.stateBias, zeros: zeros)))
    }
    self.layers = layers
    decoder = try converter.matrix(weights.decoder, bias: weights.decoderBias, zeros: zeros)
    zeroState = zeros
    embedding = weights.embedding
    fingerprint = try Self.fingerprint(of: weights, configuration, monitor)
    owners = loader.owners + converter.owners
    self.directory = directory.name
    self.configuration = configuration
    self.kernels = kernels
    self.threadLimit = threadLimit
    _ = ThreadPool.shared
  }

  /// Hashes everything that determines the meaning of a state: the kind of cell, the dimensions and every
  /// weight.
  private static func fingerprint(
    of weights: SequenceWeights, _ configuration: SequenceConfiguration, _ monitor: CallMonitor?
  ) throws(BertQAError) -> UInt64 {
    let shape = [
      configuration.cell.gateCount, configuration.vocabularySize, configuration.embeddingSize,
      configuration.hiddenSize, configuration.layerCount, configuration.tiesEmbeddings ? 1 : 0,
    ].map { UInt64($0).littleEndian }
    var hash = shape.withUnsafeBytes { bq_fingerprint($0.baseAddress, $0.count, 0) }
    for tensor in weights.all {
      try monitor?.check()
      hash = bq_fingerprint(
        tensor.bytes.baseAddress, tensor.bytes.count, hash &+ UInt64(tensor.dataType.format))
    }
    return hash
  }
}

extension ParameterConverter {
  /// Returns a matrix in the file, with its bias in f32.
  fileprivate mutating func matrix(
    _ weight: TensorView, bias: TensorView?, zeros: UnsafeMutablePointer<Float>
  ) throws(BertQAError) -> SequenceModel.Matrix {
    guard let elements = weight.bytes.baseAddress else {
      throw BertQAError(.invalidModel, "\(weight.file): tensor \(quoted(weight.name)) is empty")
    }
    let bias = if let bias { try floats(bias) } else { UnsafePointer(zeros) }
    return SequenceModel.Matrix(
      elements: elements, format: weight.dataType.format, outs: weight.rowCount, ins: weight.rowWidth,
      bias: bias)
  }
}

// MARK: - Steps

extension SequenceModel {
  /// Starts a call: rejects options outside their ranges and a state of another model.
  func begin(_ options: SequenceOptions, _ state: SequenceState?) throws(BertQAError) -> CallMonitor {
    try options.validate()
    if let state { try check(state) }
    let monitor = CallMonitor(options.call)
    try monitor.check()
    return monitor
  }

  /// Reads one word after each of many independent states: `ids[i]` after `states[i]`; nil starts a sequence.
  /// - Parameter logits: [ids.count][vocabulary]; nil if they are not needed.
  func step(
    ids: UnsafeBufferPointer<Int32>, states: [SequenceState?],
    logits: UnsafeMutablePointer<Float>? = nil, options: SequenceOptions
  ) throws(BertQAError) -> [SequenceState] {
    let monitor = try begin(options, nil)
    for (index, id) in ids.enumerated() where !isWord(id) {
      throw BertQAError(
        .invalidArgument, argument: "ids", "has \(id), but must have 0 to \(configuration.vocabularySize - 1)"
      ).of(item: index, in: "ids", count: ids.count)
    }
    for (index, state) in states.enumerated() {
      do {
        if let state { try check(state) }
      } catch {
        throw error.of(item: index, in: "states", count: states.count)
      }
    }
    // Each state's numbers, and the small objects around them.
    try monitor.hold(ids.count * (configuration.stateLength * MemoryLayout<Float>.stride + 192))
    var next = try [SequenceState](checkedCapacity: ids.count, monitor)
    for _ in ids.indices { next.append(try makeState()) }

    let cost = configuration.recurrentCost + (logits == nil ? 0 : configuration.decoderCost)
    let together = min(ids.count, Self.chunkSequences)
    let team = ThreadPool.Team(maxThreads: SequencePass.threads(self, cost: together * cost))
    try withWorkspace(sequences: together) { workspace throws(BertQAError) in
      for first in stride(from: 0, to: ids.count, by: Self.chunkSequences) {
        try monitor.check()
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
    for (index, state) in next.enumerated() where !state.isFinite {
      throw Self.overflow("the next state").of(item: index, in: "states", count: states.count)
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
    guard next.isFinite else { throw Self.overflow("the next state") }
    return next
  }

  /// Computes the logits of the word after a state.
  func decode(_ state: SequenceState, to logits: UnsafeMutablePointer<Float>) throws(BertQAError) {
    let team = ThreadPool.Team(maxThreads: SequencePass.threads(self, cost: configuration.decoderCost))
    try withWorkspace(sequences: 1) { workspace throws(BertQAError) in
      workspace.targets.base[0] = state.base
      var pass = SequencePass(self, workspace, count: 1)
      pass.decode(to: logits, team: team)
    }
  }

  /// The error if numbers that the model computes are not finite.
  static func overflow(_ what: String) -> BertQAError {
    BertQAError(
      .invalidModel,
      "\(what) has numbers that are not finite: the weights or the values of the state are too large")
  }

  private func isWord(_ id: Int32) -> Bool { id >= 0 && Int(id) < configuration.vocabularySize }

  private func makeState() throws(BertQAError) -> SequenceState {
    try SequenceState(count: configuration.stateLength, fingerprint: fingerprint)
  }

  /// Runs `body` with scratch memory for `sequences` sequences at once.
  private func withWorkspace<Result>(
    sequences: Int, _ body: (SequenceWorkspace) throws(BertQAError) -> Result
  ) throws(BertQAError) -> Result {
    let workspace = workspaces.take() ?? SequenceWorkspace()
    defer { workspaces.give(workspace) }
    try workspace.reserve(sequences: sequences, for: configuration)
    return try body(workspace)
  }
}
