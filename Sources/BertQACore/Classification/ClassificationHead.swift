import CBertQA

/// The layers from windows' vectors of [CLS] to logits, in f32. Immutable.
struct ClassificationHead: @unchecked Sendable {
  // Sendable: `encoder` keeps the layers' weights alive, which never change.

  let labelCount: Int
  private let pooler: LinearLayer?
  private let outputs: LinearLayer
  private let encoder: Encoder

  /// Windows taken through the layers at once: a few blocks of the kernels'.
  private static let windows = 4 * Kernels.lanes

  /// nil for an encoder without such a head.
  init?(_ encoder: Encoder) {
    guard case .classification(let pooler, let outputs) = encoder.parameters.head else { return nil }
    self.pooler = pooler
    self.outputs = outputs
    self.encoder = encoder
    labelCount = outputs.outs
  }

  /// - Parameter vectors: [count][hidden]
  /// - Returns: [count][labels]
  func logits(of vectors: UnsafePointer<Float>, count: Int) throws(BertQAError) -> [Float] {
    let (hidden, lanes) = (outputs.ins, Kernels.lanes)
    let capacity = min(count, Self.windows) + lanes - 1
    var input = AlignedBuffer<Float>()
    var pooled = AlignedBuffer<Float>()
    var output = AlignedBuffer<Float>()
    try input.reserve(capacity * hidden)
    try pooled.reserve(capacity * hidden)
    try output.reserve(capacity * labelCount)
    var logits: [Float] = []
    logits.reserveCapacity(count * labelCount)
    for first in stride(from: 0, to: count, by: Self.windows) {
      let part = first..<min(first + Self.windows, count)
      // [window][feature] to [block][feature][16]
      for window in part {
        let lane = window - first
        let column = input.base + lane / lanes * hidden * lanes + lane % lanes
        for feature in 0..<hidden { column[feature * lanes] = vectors[window * hidden + feature] }
      }
      let blocks = Kernels.blocks(tokens: part.count)
      let x = pool(input.base, blocks, pooled.base)
      apply(outputs, x, blocks, output.base)
      for lane in 0..<part.count {
        let column = output.base + lane / lanes * labelCount * lanes + lane % lanes
        for label in 0..<labelCount { logits.append(column[label * lanes]) }
      }
    }
    return logits
  }

  /// What the outputs take, [blocks][hidden][16]: of the pooler, which ends in BERT's tanh or
  /// DistilBERT's ReLU, or the vectors themselves.
  private func pool(
    _ x: UnsafePointer<Float>, _ blocks: Int, _ y: UnsafeMutablePointer<Float>
  ) -> UnsafePointer<Float> {
    guard let pooler else { return x }
    apply(pooler, x, blocks, y)
    let count = blocks * pooler.outs * Kernels.lanes
    switch encoder.configuration.family {
    case .bert: encoder.kernels.table.tanh_f32(y, count, y)
    case .distilBert: for index in 0..<count { y[index] = max(0, y[index]) }
    }
    return UnsafePointer(y)
  }

  private func apply(
    _ layer: LinearLayer, _ x: UnsafePointer<Float>, _ blocks: Int, _ y: UnsafeMutablePointer<Float>
  ) {
    guard case .f32(let weights) = layer.weights else { return }
    encoder.kernels.table.linear_f32(
      weights, layer.bias, x, blocks, layer.ins, layer.outs, Kernels.Epilogue.bias, y,
      layer.outs * Kernels.lanes)
  }
}
