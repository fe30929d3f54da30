import CBertQA

/// Products with the weights of linear layers, in the encoder's arithmetic.
extension Encoder {
  /// Memory for the activations of some blocks as the arithmetic multiplies them.
  struct PackingSpace {
    /// Two bytes for each activation.
    var elements: UnsafeMutableRawPointer
    /// [blocks][16], both for int8 alone.
    var scale: UnsafeMutablePointer<Float>
    var offset: UnsafeMutablePointer<Float>
  }

  /// Converts activations to the form that the arithmetic multiplies.
  /// - Parameter x: [blocks][features][16]
  func pack(
    _ x: UnsafePointer<Float>, blocks: Int, features: Int, _ space: PackingSpace
  ) -> PackedActivations {
    switch arithmetic {
    case .f32:
      return .f32(x)
    case .bf16:
      let packed = space.elements.assumingMemoryBound(to: UInt16.self)
      kernels.table.pack_bf16(x, blocks, features, packed)
      return .bf16(packed)
    case .int8:
      let packed = space.elements.assumingMemoryBound(to: UInt8.self)
      kernels.table.quantize_u8(x, blocks, features, packed, space.scale, space.offset)
      return .int8(packed, scale: space.scale, offset: space.offset)
    }
  }

  /// Computes y = epilogue(x · weightᵀ + bias) for some blocks. `stride` is in elements from one block of y
  /// to the next.
  func multiply(
    _ layer: LinearLayer, _ x: PackedActivations, blocks: Int, _ epilogue: Int32,
    _ y: UnsafeMutableRawPointer,
    stride: Int
  ) {
    let table = kernels.table
    switch (layer.weights, x) {
    case (.f32(let weights), .f32(let x)):
      table.linear_f32(
        weights, layer.bias, x, blocks, layer.ins, layer.outs, epilogue,
        y.assumingMemoryBound(to: Float.self), stride)
    case (.bf16(let weights), .bf16(let x)):
      table.linear_bf16(weights, layer.bias, x, blocks, layer.ins, layer.outs, epilogue, y, stride)
    case (.int8(let weights), .int8(let x, let scale, let offset)):
      var arguments = bq_weights_s8(
        w: weights.elements, scale: weights.scale, sums: weights.sums, bias: layer.bias,
        large: weights.large)
      table.linear_s8(
        &arguments, x, scale, offset, blocks, layer.ins, layer.outs, epilogue,
        y.assumingMemoryBound(to: Float.self), stride)
    default:
      preconditionFailure("activations packed for another arithmetic")
    }
  }
}
