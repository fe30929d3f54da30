import CBertQA

/// The layers on top of the encoder, as the kernels take them. They are always f32, because they are small
/// and their outputs are the scores.
struct Head {
  struct Layer {
    var linear: LinearLayer
    var activation: Activation
    /// Follows the activation.
    var norm: Parameters.Norm?
    /// True if the input, or the outputs of `residual` for it, are added to the activation's values.
    var addsInput: Bool
    var residual: LinearLayer?
  }

  let input: HeadInput
  /// Applied in order to the input's vectors. Without layers the vectors are the result.
  let layers: [Layer]
  /// The numbers per token or window.
  let columns: Int
  /// The number of outputs of the widest layer; 0 without layers.
  private let width: Int

  /// - Parameter hidden: the number of features of the vectors that the head reads.
  init(input: HeadInput, layers: [Layer], hidden: Int) {
    self.input = input
    self.layers = layers
    columns = layers.last?.linear.outs ?? hidden
    width = layers.map(\.linear.outs).max() ?? 0
  }

  /// Returns the head for an input of this kind. Layers made for the other kind are omitted: the vectors are the
  /// result.
  /// - Parameter hidden: the number of features of the input's vectors.
  func reading(_ input: HeadInput, hidden: Int) -> Head {
    if !layers.isEmpty, (input == .tokens) == (self.input == .tokens) { return self }
    return Head(input: input, layers: [], hidden: hidden)
  }

  /// The floats of scratch memory that `apply` needs: the outputs of two layers.
  func scratchCount(blocks: Int) -> Int { 2 * blocks * width * Kernels.lanes }

  /// Takes blocks of vectors through the layers.
  /// - Parameters:
  ///   - x: [blocks][hidden][16]
  ///   - scratch: `scratchCount` floats.
  /// - Returns: [blocks][columns][16] in `scratch`; `x` without layers.
  func apply(
    _ x: UnsafePointer<Float>, blocks: Int, scratch: UnsafeMutablePointer<Float>, _ kernels: Kernels
  ) -> UnsafePointer<Float> {
    var x = x
    var (y, other) = (scratch, scratch + blocks * width * Kernels.lanes)
    for layer in layers {
      let linear = layer.linear
      guard case .f32(let weights) = linear.weights else { break }
      kernels.table.linear_f32(
        weights, linear.bias, x, blocks, linear.ins, linear.outs,
        Kernels.Epilogue.applying(layer.activation), y, linear.outs * Kernels.lanes)
      if let residual = layer.residual, case .f32(let weights) = residual.weights {
        kernels.table.linear_f32(
          weights, residual.bias, x, blocks, residual.ins, residual.outs, Kernels.Epilogue.residual, y,
          residual.outs * Kernels.lanes)
      } else if layer.addsInput {
        for index in 0..<blocks * linear.outs * Kernels.lanes { y[index] += x[index] }
      }
      if let norm = layer.norm {
        norm.apply(y, blocks: blocks, features: linear.outs, to: y, kernels)
      }
      x = UnsafePointer(y)
      swap(&y, &other)
    }
    return x
  }
}
