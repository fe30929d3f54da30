import CBertQA

/// The layers on top of the encoder, as the kernels take them. Always f32: they are small, and their outputs are
/// the scores.
struct Head {
  struct Layer {
    var linear: LinearLayer
    var activation: Activation
  }

  let input: HeadInput
  /// Applied in order to the input's vectors; none: these are the result.
  let layers: [Layer]
  /// Numbers per token or window.
  let columns: Int
  /// Features of the widest layer's outputs; 0 without layers.
  private let width: Int

  /// - Parameter hidden: features of the vectors that the head reads.
  init(input: HeadInput, layers: [Layer], hidden: Int) {
    self.input = input
    self.layers = layers
    columns = layers.last?.linear.outs ?? hidden
    width = layers.map(\.linear.outs).max() ?? 0
  }

  /// Floats of scratch that `apply` needs: two layers' outputs.
  func scratchCount(blocks: Int) -> Int { 2 * blocks * width * Kernels.lanes }

  /// Takes blocks of vectors through the layers.
  /// - Parameters:
  ///   - x: [blocks][hidden][16]
  ///   - scratch: `scratchCount` floats.
  /// - Returns: [blocks][columns][16], in `scratch`, or `x` without layers.
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
      x = UnsafePointer(y)
      swap(&y, &other)
    }
    return x
  }
}
