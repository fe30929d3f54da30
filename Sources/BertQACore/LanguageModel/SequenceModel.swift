import CBertQA

/// A recurrent language model: an embedding, LSTM or GRU layers, a linear decoder. Immutable: any number of
/// threads may use it at once.
///
/// The arithmetic is that of PyTorch's `nn.LSTM` and `nn.GRU` in f32; weights of two bytes are widened where
/// they are used. LSTM: Hochreiter & Schmidhuber 1997, *Long Short-Term Memory*; GRU: Cho et al. 2014.
final class SequenceModel: @unchecked Sendable {
  // Sendable: parameters never change; workspaces are exclusive while in use.

  /// Sequences that go through the layers together; more are taken in turns.
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

    /// Bytes of one row.
    var rowSize: Int { ins * (format == Int32(BQ_FORMAT_F32) ? 4 : 2) }
  }

  struct Layer {
    /// What the layer's input gives to the gates, and what its own h does.
    let input: Matrix
    let state: Matrix
  }

  /// What messages call the model's directory.
  let directory: String
  let configuration: SequenceConfiguration
  let words: WordVocabulary
  /// [vocabulary, embedding]
  let embedding: TensorView
  let layers: [Layer]
  let decoder: Matrix
  /// The state before the first word; never written.
  let zeroState: UnsafeMutablePointer<Float>
  /// Tells this model from others: a hash of its shape and weights.
  let fingerprint: UInt64
  let kernels: Kernels
  /// Threads that a call may use; 0: as many as are available.
  let threadLimit: Int
  let workspaces = ObjectPool<SequenceWorkspace>()
  private let memory: ParameterMemory
  private let owners: [any AnyObject & Sendable]

  /// Loads a directory with `config.json`, `vocab.txt` and safetensors. Weights are used where they are
  /// mapped. They are all read once, to refuse those that are no numbers and for the fingerprint.
  init(_ directory: ModelDirectory, kernels: Kernels, threadLimit: Int) throws(BertQAError) {
    let configuration = try SequenceConfiguration(directory.file("config.json"))
    let loader = WeightLoader(try Checkpoint(directory), prefix: "")
    let weights = try SequenceWeights(loader, configuration)
    words = try WordVocabulary(configuration, file: directory.file("vocab.txt"))
    try weights.checkFinite()

    let converter = ParameterConverter(.f32)
    let longest = max(
      configuration.stateLength, configuration.cell.gateCount * configuration.hiddenSize,
      configuration.vocabularySize)
    let zeros = try converter.memory.take(Float.self, count: longest)
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
    fingerprint = Self.fingerprint(of: weights, configuration)
    memory = converter.memory
    owners = loader.owners
    self.directory = directory.name
    self.configuration = configuration
    self.kernels = kernels
    self.threadLimit = threadLimit
    _ = ThreadPool.shared
  }

  /// What decides on the meaning of a state: the kind of cell, the dimensions and every weight.
  private static func fingerprint(
    of weights: SequenceWeights, _ configuration: SequenceConfiguration
  ) -> UInt64 {
    let shape = [
      configuration.cell.gateCount, configuration.vocabularySize, configuration.embeddingSize,
      configuration.hiddenSize, configuration.layerCount, configuration.tiesEmbeddings ? 1 : 0,
    ].map { UInt64($0).littleEndian }
    var hash = shape.withUnsafeBytes { bq_fingerprint($0.baseAddress, $0.count, 0) }
    for tensor in weights.all {
      hash = bq_fingerprint(
        tensor.bytes.baseAddress, tensor.bytes.count, hash &+ UInt64(tensor.kernelFormat))
    }
    return hash
  }
}

extension ParameterConverter {
  /// A matrix where the file has it, with its bias in f32.
  fileprivate func matrix(
    _ weight: TensorView, bias: TensorView?, zeros: UnsafeMutablePointer<Float>
  ) throws(BertQAError) -> SequenceModel.Matrix {
    guard let elements = weight.bytes.baseAddress else {
      throw BertQAError(.invalidModel, "\(weight.file): tensor \(quoted(weight.name)) is empty")
    }
    return SequenceModel.Matrix(
      elements: elements, format: weight.kernelFormat, outs: weight.rowCount, ins: weight.rowWidth,
      bias: try bias.map { bias throws(BertQAError) in try floats(bias) } ?? UnsafePointer(zeros))
  }
}
