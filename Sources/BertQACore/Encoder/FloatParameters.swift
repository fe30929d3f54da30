/// A model's parameters as the f32 kernels take them.
///
/// F32 tensors are used where the mapping has them; all others are expanded once into memory owned
/// here. The word embeddings are never expanded: rows are converted as tokens need them.
final class FloatParameters: @unchecked Sendable {
  // Sendable: nothing changes after init; `model` keeps the mapping alive.

  /// y = x · weightᵀ + bias; weight: [outs][ins].
  struct Linear {
    var weight: UnsafePointer<Float>
    var bias: UnsafePointer<Float>
    var ins: Int
    var outs: Int
  }

  /// Query, key and value, each [hidden][hidden].
  enum Projections {
    /// Their weights lie one after the other and so do their biases: one layer of 3 · hidden outputs.
    case together(Linear)
    case separate(query: Linear, key: Linear, value: Linear)
  }

  struct Norm {
    var gamma: UnsafePointer<Float>
    var beta: UnsafePointer<Float>
  }

  struct Layer {
    var projections: Projections
    var attentionOutput: Linear
    var attentionNorm: Norm
    var intermediate: Linear
    var output: Linear
    var outputNorm: Norm
  }

  let wordEmbeddings: TensorView
  /// [maxPositions][hidden]
  let positionEmbeddings: UnsafePointer<Float>
  /// [typeVocabSize][hidden]; nil for architectures without token types.
  let tokenTypeEmbeddings: UnsafePointer<Float>?
  let embeddingNorm: Norm
  let layers: [Layer]
  let questionAnswering: Linear

  private let model: LoadedModel
  private let expanded: AlignedBuffer<Float>

  init(_ model: LoadedModel) throws(BertQAError) {
    let weights = model.encoder
    var needed = 0
    for tensor in Self.tensors(of: model) where !Self.isUsableInPlace(tensor) {
      needed += Self.paddedCount(tensor)
    }
    expanded = try AlignedBuffer(uninitializedCount: needed)
    var free = expanded.base

    func floats(_ tensor: TensorView) -> UnsafePointer<Float> {
      if Self.isUsableInPlace(tensor), let base = tensor.bytes.baseAddress {
        return base.assumingMemoryBound(to: Float.self)
      }
      defer { free += Self.paddedCount(tensor) }
      tensor.copyFloats(rows: 0..<tensor.shape[0], to: free)
      return UnsafePointer(free)
    }
    func norm(_ weights: NormWeights) -> Norm {
      Norm(gamma: floats(weights.weight), beta: floats(weights.bias))
    }
    func linear(_ weights: LinearWeights) -> Linear {
      Linear(
        weight: floats(weights.weight), bias: floats(weights.bias),
        ins: weights.weight.shape[1], outs: weights.weight.shape[0])
    }
    func projections(_ layer: LayerWeights) -> Projections {
      let parts = [layer.query, layer.key, layer.value]
      let weights = parts.map { floats($0.weight) }
      let biases = parts.map { floats($0.bias) }
      let (outs, ins) = (layer.query.weight.shape[0], layer.query.weight.shape[1])
      let adjacent = (1...2).allSatisfy {
        weights[$0] == weights[0] + $0 * outs * ins && biases[$0] == biases[0] + $0 * outs
      }
      if adjacent {
        return .together(Linear(weight: weights[0], bias: biases[0], ins: ins, outs: 3 * outs))
      }
      let linears = (0...2).map { Linear(weight: weights[$0], bias: biases[$0], ins: ins, outs: outs) }
      return .separate(query: linears[0], key: linears[1], value: linears[2])
    }

    wordEmbeddings = weights.wordEmbeddings
    positionEmbeddings = floats(weights.positionEmbeddings)
    tokenTypeEmbeddings = weights.tokenTypeEmbeddings.map(floats)
    embeddingNorm = norm(weights.embeddingNorm)
    layers = weights.layers.map { layer in
      Layer(
        projections: projections(layer), attentionOutput: linear(layer.attentionOutput),
        attentionNorm: norm(layer.attentionNorm), intermediate: linear(layer.intermediate),
        output: linear(layer.output), outputNorm: norm(layer.outputNorm))
    }
    questionAnswering = linear(model.questionAnswering)
    self.model = model
  }

  /// All tensors but the word embeddings.
  private static func tensors(of model: LoadedModel) -> [TensorView] {
    let weights = model.encoder
    var linears = [model.questionAnswering]
    var norms = [weights.embeddingNorm]
    for layer in weights.layers {
      linears += [layer.query, layer.key, layer.value]
      linears += [layer.attentionOutput, layer.intermediate, layer.output]
      norms += [layer.attentionNorm, layer.outputNorm]
    }
    var tensors = linears.flatMap { [$0.weight, $0.bias] } + norms.flatMap { [$0.weight, $0.bias] }
    tensors.append(weights.positionEmbeddings)
    if let types = weights.tokenTypeEmbeddings { tensors.append(types) }
    return tensors
  }

  private static func isUsableInPlace(_ tensor: TensorView) -> Bool {
    tensor.dataType == .f32
      && UInt(bitPattern: tensor.bytes.baseAddress) % UInt(MemoryLayout<Float>.alignment) == 0
  }

  /// Elements, rounded up to a cache line. Shapes are those of the loader, which has checked them
  /// against the file's size.
  private static func paddedCount(_ tensor: TensorView) -> Int {
    (tensor.shape.reduce(1, *) + 15) / 16 * 16
  }
}
