import CBertQA

extension EncoderPass {
  /// All but attention of one layer for some blocks of a chunk, and what follows it: the next layer's
  /// projections or, after the last, a head of tokens.
  func transform(
    _ active: ActiveChunk, layer index: Int, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let layers = encoder.parameters.layers
    let layer = layers[index]
    let offset = blocks.lowerBound * hiddenSize * Self.lanes
    let hidden = active.activations.hidden + offset
    let context = active.activations.context + offset
    let gathered = pack(context, blocks, features: hiddenSize, scratch)
    multiply(layer.attentionOutput, gathered, blocks, Kernels.Epilogue.residual, hidden)
    normalize(hidden, blocks, layer.attentionNorm)
    multiply(
      layer.output, activate(layer, hidden, blocks, scratch), blocks, Kernels.Epilogue.residual, hidden)
    normalize(hidden, blocks, layer.outputNorm)
    if index + 1 < layers.count {
      project(active, layers[index + 1], blocks, scratch)
    } else if output.input == .tokens {
      applyTokenHead(active, blocks, scratch)
    }
  }

  /// The feed-forward layer's activations of some blocks, ready for the next multiplication.
  private func activate(
    _ layer: Parameters.Layer, _ hidden: UnsafePointer<Float>, _ blocks: Range<Int>,
    _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    let x = pack(hidden, blocks, features: hiddenSize, scratch)
    let y = scratch.intermediate
    let epilogue = Kernels.Epilogue.applying(encoder.configuration.activation)
    if encoder.arithmetic == .bf16 {
      multiply(layer.intermediate, x, blocks, epilogue + Kernels.Epilogue.bf16Pairs, y)
      return .bf16(UnsafePointer(UnsafeMutableRawPointer(y).assumingMemoryBound(to: UInt16.self)))
    }
    multiply(layer.intermediate, x, blocks, epilogue, y)
    return pack(y, blocks, features: layer.intermediate.outs, scratch)
  }

  /// Query, key and value of some blocks: as bf16 where attention takes that (query and key in pairs).
  func project(
    _ active: ActiveChunk, _ layer: Parameters.Layer, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let part = hiddenSize * Self.lanes
    let input = pack(
      active.activations.hidden + blocks.lowerBound * part, blocks, features: hiddenSize, scratch)
    let bf16 = encoder.attendsInBF16
    func apply(_ layer: LinearLayer, _ index: Int, _ bf16Epilogue: Int32) {
      let first = blocks.lowerBound * 3 * part + index * part
      let size = bf16 ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride
      multiply(
        layer, input, blocks, bf16 ? bf16Epilogue : Kernels.Epilogue.bias,
        active.activations.projections + first * size, stride: 3 * part)
    }
    switch layer.projections {
    case .together(let all):
      apply(all, 0, Kernels.Epilogue.bias)
    case .separate(let query, let key, let value):
      apply(query, 0, Kernels.Epilogue.bf16Pairs)
      apply(key, 1, Kernels.Epilogue.bf16Pairs)
      apply(value, 2, Kernels.Epilogue.bf16)
    }
  }

  /// The windows with tokens in some blocks of a chunk: which of their tokens, and the first one's
  /// lane within the chunk.
  func forEachWindow(
    _ chunk: ChunkPlan.Chunk, _ blocks: Range<Int>, _ body: (Window, Range<Int>, Int) -> Void
  ) {
    let lanes = blocks.lowerBound * Self.lanes..<blocks.upperBound * Self.lanes
    for index in chunk.members {
      let member = members[index]
      let window = windows[member.window]
      let covered = (member.lane..<member.lane + window.tokenCount).clamped(to: lanes)
      guard !covered.isEmpty else { continue }
      body(
        window, covered.lowerBound - member.lane..<covered.upperBound - member.lane,
        covered.lowerBound)
    }
  }

  func normalize(
    _ x: UnsafeMutablePointer<Float>, _ blocks: Range<Int>, _ norm: Parameters.Norm, features: Int? = nil
  ) {
    encoder.kernels.table.layer_norm_f32(
      x, blocks.count, features ?? hiddenSize, norm.gamma, norm.beta, encoder.configuration.layerNormEps, x)
  }

  // MARK: - Linear layers

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
