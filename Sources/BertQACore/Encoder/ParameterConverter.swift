import CBertQA
import Synchronization

/// Converts a checkpoint's tensors to the form that the kernels of one arithmetic take.
struct ParameterConverter {
  /// The copies that the converted parameters point into.
  private(set) var owners: [any AnyObject & Sendable] = []
  private let arithmetic: Arithmetic
  /// Needed for int8 weights.
  private let kernels: Kernels?
  /// The task whose adapters are added to weights.
  private let task: Int?
  /// The maximum number of threads that quantize.
  private let threads: Int
  /// Shared by modules without a bias.
  private var zeros: SharedBuffer<Float>?

  init(_ arithmetic: Arithmetic, _ kernels: Kernels? = nil, task: Int? = nil, threads: Int = 1) {
    self.arithmetic = arithmetic
    self.kernels = kernels
    self.task = task
    self.threads = threads
  }

  mutating func norm(_ weights: NormWeights) throws(BertQAError) -> Parameters.Norm {
    Parameters.Norm(
      gamma: try floats(weights.weight), beta: try bias(weights.bias, count: weights.weight.rowCount),
      eps: weights.eps)
  }

  mutating func narrow(
    _ weights: NarrowLayer<LinearWeights, NormWeights>
  ) throws(BertQAError) -> NarrowLayer<LinearLayer, Parameters.Norm> {
    typealias Narrow = NarrowLayer<LinearLayer, Parameters.Norm>
    func step(_ own: NarrowLayer<LinearWeights, NormWeights>.Step) throws(BertQAError) -> Narrow.Step {
      Narrow.Step(linear: try linear(own.linear), norm: try norm(own.norm))
    }
    var feedForwards: [Narrow.FeedForward] = []
    for own in weights.feedForwards {
      feedForwards.append(
        Narrow.FeedForward(intermediate: try linear(own.intermediate), output: try step(own.output)))
    }
    return Narrow(
      input: try weights.input.map(step), attention: try weights.attention.map(step),
      output: try weights.output.map(step), feedForwards: feedForwards)
  }

  mutating func global(
    _ weights: GlobalProjections<LinearWeights>
  ) throws(BertQAError) -> GlobalProjections<LinearLayer> {
    GlobalProjections(
      query: try linear(weights.query), key: try linear(weights.key), value: try linear(weights.value))
  }

  mutating func projections(_ layer: LayerWeights) throws(BertQAError) -> Parameters.Projections {
    let query = try linear(layer.query)
    let key = try linear(layer.key)
    let value = try linear(layer.value)
    if case .f32(let first) = query.weights, case .f32(let second) = key.weights,
      case .f32(let third) = value.weights, second == first + query.outs * query.ins,
      third == second + query.outs * query.ins, layer.narrow?.attention == nil
    {
      let outs = 3 * query.outs
      if layer.query.bias == nil {
        return .together(
          LinearLayer(weights: query.weights, bias: try bias(nil, count: outs), ins: query.ins, outs: outs))
      }
      if key.bias == query.bias + query.outs, value.bias == key.bias + query.outs {
        return .together(
          LinearLayer(weights: query.weights, bias: query.bias, ins: query.ins, outs: outs))
      }
    }
    return .separate(query: query, key: key, value: value)
  }

  mutating func head(
    _ weights: HeadWeights, _ configuration: ModelConfiguration
  ) throws(BertQAError) -> Head {
    var layers: [Head.Layer] = []
    for layer in weights.layers {
      layers.append(
        Head.Layer(
          linear: try floatLinear(layer.linear), activation: layer.activation,
          norm: try layer.norm.map { weights throws(BertQAError) in try norm(weights) },
          addsInput: layer.addsInput,
          residual: try layer.residual.map { weights throws(BertQAError) in try floatLinear(weights) }))
    }
    return Head(
      input: weights.input, layers: layers, hidden: configuration.hiddenSize)
  }

  mutating func linear(_ weights: LinearWeights) throws(BertQAError) -> LinearLayer {
    if let task, let adapters = weights.adapters {
      let (sum, owner) = try adapters.merged(into: weights.weight, task: task)
      // In other arithmetics it is converted.
      if arithmetic == .f32 { owners.append(owner) }
      defer { withExtendedLifetime(owner) {} }
      return try linear(LinearWeights(weight: sum, bias: weights.bias))
    }
    let layerWeights: LinearLayer.Weights
    switch arithmetic {
    case .f32: return try floatLinear(weights)
    case .bf16: layerWeights = .bf16(try bfloats(weights.weight))
    case .int8: layerWeights = .int8(try int8(weights.weight))
    }
    return LinearLayer(
      weights: layerWeights, bias: try bias(weights.bias, count: weights.weight.rowCount),
      ins: weights.weight.rowWidth, outs: weights.weight.rowCount)
  }

  mutating func floatLinear(_ weights: LinearWeights) throws(BertQAError) -> LinearLayer {
    LinearLayer(
      weights: .f32(try floats(weights.weight)),
      bias: try bias(weights.bias, count: weights.weight.rowCount), ins: weights.weight.rowWidth,
      outs: weights.weight.rowCount)
  }

  /// Returns a bias; zeros if the module has none.
  private mutating func bias(
    _ tensor: TensorView?, count: Int
  ) throws(BertQAError) -> UnsafePointer<Float> {
    if let tensor { return try floats(tensor) }
    if let zeros, zeros.count >= count { return UnsafePointer(zeros.base) }
    let buffer = try SharedBuffer<Float>(count: count)
    buffer.base.initialize(repeating: 0, count: count)
    owners.append(buffer)
    zeros = buffer
    return UnsafePointer(buffer.base)
  }

  mutating func floats(
    _ tensor: TensorView, _ adapters: AdapterWeights? = nil
  ) throws(BertQAError) -> UnsafePointer<Float> {
    if let task, let adapters {
      let owner = try adapters.merged(into: tensor, task: task).owner
      owners.append(owner)
      return UnsafePointer(owner.base)
    }
    if tensor.dataType == .f32, let floats = tensor.inPlace(as: Float.self) { return floats }
    let copy = try take(Float.self, count: tensor.rowCount * tensor.rowWidth)
    tensor.copyFloats(rows: 0..<tensor.rowCount, to: copy)
    return UnsafePointer(copy)
  }

  /// Rounded to nearest, ties to even.
  private mutating func bfloats(_ tensor: TensorView) throws(BertQAError) -> UnsafePointer<UInt16> {
    if tensor.dataType == .bf16, let bfloats = tensor.inPlace(as: UInt16.self) { return bfloats }
    let width = tensor.rowWidth
    let copy = try take(UInt16.self, count: tensor.rowCount * width)
    try forEachRow(of: tensor) { row, floats throws(BertQAError) in
      for column in 0..<width { copy[row * width + column] = bfloat(floats[column]) }
    }
    return UnsafePointer(copy)
  }

  /// The places where int8 products need more care, for instruction sets that use them (kernels.h).
  private mutating func large(
    _ elements: UnsafePointer<Int8>, _ rows: Int, _ columns: Int
  ) throws(BertQAError) -> UnsafePointer<UInt64>? {
    guard let find = kernels?.table.find_large_s8 else { return nil }
    let words = try take(UInt64.self, count: rows * bq_large_words(columns))
    find(elements, rows, columns, words)
    return UnsafePointer(words)
  }

  private mutating func int8(_ tensor: TensorView) throws(BertQAError) -> LinearLayer.Int8Weights {
    let (rows, width) = (tensor.rowCount, tensor.rowWidth)
    let sums = try take(Float.self, count: rows)
    if tensor.dataType == .i8, let scales = tensor.rowScales?.baseAddress,
      let elements = tensor.inPlace(as: Int8.self)
    {
      if let stored = tensor.rowSums {
        for row in 0..<rows { sums[row] = scales[row] * Float(stored[row]) }
      } else {
        bq_row_sums_s8(elements, scales, rows, width, sums)
      }
      return LinearLayer.Int8Weights(
        elements: elements, scale: scales, sums: UnsafePointer(sums), large: try large(elements, rows, width))
    }
    let elements = try take(Int8.self, count: rows * width)
    let scales = try take(Float.self, count: rows)
    let threads = max(1, min(threads, rows / QuantizingWork.rowsPerTask))
    let work = QuantizingWork(
      tensor: tensor, floats: try SharedBuffer(count: threads * width), elements: elements, scales: scales,
      sums: sums)
    work.run(threads: threads)
    let badRow = work.badRow.load(ordering: .relaxed)
    guard badRow == .max else {
      throw BertQAError(
        .invalidModel, "\(tensor.file): tensor \(tensor.name): row \(badRow) has an infinity or NaN")
    }
    return LinearLayer.Int8Weights(
      elements: UnsafePointer(elements), scale: UnsafePointer(scales), sums: UnsafePointer(sums),
      large: try large(elements, rows, width))
  }

  mutating func take<Element: BitwiseCopyable & Sendable>(
    _ type: Element.Type, count: Int
  ) throws(BertQAError) -> UnsafeMutablePointer<Element> {
    let copy = try SharedBuffer<Element>(count: count)
    owners.append(copy)
    return copy.base
  }

  private func forEachRow(
    of tensor: TensorView, _ body: (Int, UnsafePointer<Float>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let floats = try AlignedBuffer<Float>(uninitializedCount: tensor.rowWidth)
    for row in 0..<tensor.rowCount {
      tensor.copyFloats(rows: row..<row + 1, to: floats.base)
      try body(row, UnsafePointer(floats.base))
    }
  }
}

/// The rows of one matrix, which threads quantize.
private final class QuantizingWork: @unchecked Sendable {
  // Sendable: threads write different rows and have different buffers.
  private let tensor: TensorView
  /// [seat][width]
  private let floats: SharedBuffer<Float>
  private let elements: UnsafeMutablePointer<Int8>
  private let scales: UnsafeMutablePointer<Float>
  private let sums: UnsafeMutablePointer<Float>
  /// The first row that is not finite; `Int.max` if all are.
  let badRow = Atomic<Int>(.max)

  init(
    tensor: TensorView, floats: SharedBuffer<Float>, elements: UnsafeMutablePointer<Int8>,
    scales: UnsafeMutablePointer<Float>, sums: UnsafeMutablePointer<Float>
  ) {
    self.tensor = tensor
    self.floats = floats
    self.elements = elements
    self.scales = scales
    self.sums = sums
  }

  static let rowsPerTask = 32

  /// Quantizes all rows.
  func run(threads: Int) {
    let rows = tensor.rowCount
    let team = ThreadPool.Team(maxThreads: threads)
    team.run(count: (rows + Self.rowsPerTask - 1) / Self.rowsPerTask) { task, seat in
      self.quantize(task * Self.rowsPerTask..<min(rows, (task + 1) * Self.rowsPerTask), seat: seat)
    }
  }

  private func quantize(_ rows: Range<Int>, seat: Int) {
    let width = tensor.rowWidth
    let row = UnsafeMutableBufferPointer(start: floats.base + seat * width, count: width)
    guard let base = row.baseAddress else { return }
    var quantizer = RowQuantizer()
    for index in rows {
      tensor.copyFloats(rows: index..<index + 1, to: base)
      guard let result = quantizer.quantize(UnsafeBufferPointer(row), to: elements + index * width) else {
        badRow.min(index, ordering: .relaxed)
        return
      }
      scales[index] = result.scale
      sums[index] = result.scale * Float(result.sum)
    }
  }
}

/// Returns the nearest bfloat16, ties to even. A NaN stays a NaN.
func bfloat(_ value: Float) -> UInt16 {
  let bits = value.bitPattern
  if value.isNaN { return UInt16(truncatingIfNeeded: bits &>> 16) | 0x40 }
  return UInt16(truncatingIfNeeded: (bits &+ 0x7FFF &+ (bits &>> 16 & 1)) &>> 16)
}

extension TensorView {
  /// The elements in place; nil if they are not aligned for their type.
  fileprivate func inPlace<Element>(as type: Element.Type) -> UnsafePointer<Element>? {
    guard let base = bytes.baseAddress,
      UInt(bitPattern: base) % UInt(MemoryLayout<Element>.alignment) == 0
    else { return nil }
    return base.assumingMemoryBound(to: type)
  }
}
