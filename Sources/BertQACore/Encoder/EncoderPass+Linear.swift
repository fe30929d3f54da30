import CBertQA

extension EncoderPass {
  /// Brings some blocks' activations into the form that the encoder's arithmetic multiplies.
  func pack(
    _ x: UnsafePointer<Float>, _ blocks: Range<Int>, features: Int, _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    let table = encoder.kernels.table
    switch encoder.arithmetic {
    case .f32:
      return .f32(x)
    case .bf16:
      let packed = scratch.packed.assumingMemoryBound(to: UInt16.self)
      table.pack_bf16(x, blocks.count, features, packed)
      return .bf16(packed)
    case .int8:
      let packed = scratch.packed.assumingMemoryBound(to: UInt8.self)
      table.quantize_u8(x, blocks.count, features, packed, scratch.scale, scratch.offset)
      return .int8(packed, scale: scratch.scale, offset: scratch.offset)
    }
  }

  /// y = epilogue(x · weightᵀ + bias) for some blocks; `stride`: elements from one block of y to the next.
  func multiply(
    _ layer: LinearLayer, _ x: PackedActivations, _ blocks: Range<Int>, _ epilogue: Int32,
    _ y: UnsafeMutableRawPointer, stride: Int? = nil
  ) {
    let table = encoder.kernels.table
    let stride = stride ?? layer.outs * Self.lanes
    switch (layer.weights, x) {
    case (.f32(let weights), .f32(let x)):
      table.linear_f32(
        weights, layer.bias, x, blocks.count, layer.ins, layer.outs, epilogue,
        y.assumingMemoryBound(to: Float.self), stride)
    case (.bf16(let weights), .bf16(let x)):
      table.linear_bf16(
        weights, layer.bias, x, blocks.count, layer.ins, layer.outs, epilogue, y, stride)
    case (.int8(let weights), .int8(let x, let scale, let offset)):
      var arguments = bq_weights_s8(
        w: weights.elements, scale: weights.scale, sums: weights.sums, bias: layer.bias)
      table.linear_s8(
        &arguments, x, scale, offset, blocks.count, layer.ins, layer.outs, epilogue,
        y.assumingMemoryBound(to: Float.self), stride)
    default:
      preconditionFailure("activations packed for another arithmetic")
    }
  }
}
