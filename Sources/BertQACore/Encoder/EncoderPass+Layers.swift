import CBertQA

extension EncoderPass {
  /// Takes some blocks of a chunk to the first layer's attention.
  func begin(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    embed(active, blocks, scratch)
    clearUnusedContext(active, blocks)
    project(active, layer: 0, blocks, scratch)
  }

  /// Sets attention's result to 0 in the lanes without a token of some blocks: what an earlier chunk left there may be
  /// NaN, which a weight of 0 in attention would not remove.
  private func clearUnusedContext(_ active: ActiveChunk, _ blocks: Range<Int>) {
    let lanes = blocks.lowerBound * Self.lanes..<blocks.upperBound * Self.lanes
    let last = active.chunk.members.upperBound - 1
    for index in active.chunk.members {
      let end = members[index].lane + windows[members[index].window].tokenCount
      let next = index < last ? members[index + 1].lane : active.chunk.blocks * Self.lanes
      clearContext(active, lanes: (end..<next).clamped(to: lanes), features: 0..<layerWidth)
    }
  }

  /// Takes some blocks of a chunk from a layer's attention to the next layer's attention or, after the last layer,
  /// through a head of tokens.
  func advance(
    _ active: ActiveChunk, fromAttentionOf layer: Int, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    finishLayer(active, layer, blocks, scratch)
    if layer + 1 < encoder.parameters.layers.count {
      project(active, layer: layer + 1, blocks, scratch)
    } else if output.input == .tokens {
      applyTokenHead(active, blocks, scratch)
    }
  }

  /// Computes what follows a layer's attention, up to the layer's output, for some blocks of a chunk.
  private func finishLayer(
    _ active: ActiveChunk, _ index: Int, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let parameters = encoder.parameters
    let layer = parameters.layers[index]
    let offset = blocks.lowerBound * layerWidth * Self.lanes
    // Inside the layer; the hidden vectors themselves in families without bottlenecks.
    let hidden = active.activations.inner + offset
    let context = active.activations.context + offset
    let gathered = pack(context, blocks, features: layerWidth, scratch)
    multiply(layer.attentionOutput, gathered, blocks, Kernels.Epilogue.residual, hidden)
    switch encoder.configuration.family.norm {
    case .layerNormAfter:
      if let norm = layer.attentionNorm { normalize(hidden, blocks, norm) }
      for part in layer.narrow?.feedForwards ?? [] {
        feedForward(part.intermediate, part.output.linear, hidden, blocks, scratch, addingTo: hidden)
        normalize(hidden, blocks, part.output.norm)
      }
      feedForward(
        layer.intermediate, gate: layer.gate, layer.output, hidden, blocks, scratch, addingTo: hidden)
      normalize(hidden, blocks, layer.outputNorm)
      if let step = layer.narrow?.output { leave(active, step, blocks, scratch) }
    case .layerNormBefore:
      normalize(hidden, blocks, layer.outputNorm, to: scratch.normalized)
      feedForward(
        layer.intermediate, gate: layer.gate, layer.output, scratch.normalized, blocks, scratch,
        addingTo: hidden)
      if index + 1 == parameters.layers.count, let norm = parameters.finalNorm {
        normalize(hidden, blocks, norm)
      }
    }
  }

  /// Adds the feed-forward layer of some blocks to the residual stream.
  private func feedForward(
    _ intermediate: LinearLayer, gate: LinearLayer? = nil, _ output: LinearLayer,
    _ input: UnsafePointer<Float>,
    _ blocks: Range<Int>, _ scratch: Workspace.Scratch, addingTo hidden: UnsafeMutablePointer<Float>
  ) {
    let activated = activate(intermediate, gate: gate, input, blocks, scratch)
    multiply(output, activated, blocks, Kernels.Epilogue.residual, hidden)
  }

  /// Computes the feed-forward layer's activations of some blocks, gated in gated families, packed for the
  /// next multiplication.
  private func activate(
    _ intermediate: LinearLayer, gate: LinearLayer?, _ input: UnsafePointer<Float>, _ blocks: Range<Int>,
    _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    let x = pack(input, blocks, features: intermediate.ins, scratch)
    let y = scratch.intermediate
    let epilogue = Kernels.Epilogue.applying(encoder.configuration.activation)
    if encoder.arithmetic == .bf16, gate == nil {
      multiply(intermediate, x, blocks, epilogue + Kernels.Epilogue.bf16Pairs, y)
      return .bf16(UnsafePointer(UnsafeMutableRawPointer(y).assumingMemoryBound(to: UInt16.self)))
    }
    multiply(intermediate, x, blocks, epilogue, y)
    if let gate { multiply(gate, x, blocks, Kernels.Epilogue.gate, y) }
    return pack(y, blocks, features: intermediate.outs, scratch)
  }

  /// Calls `body` for each window with tokens in some blocks of a chunk, with the range of these tokens and
  /// the lane of the first one within the chunk.
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

  /// - Parameters:
  ///   - features: nil: `layerWidth`.
  ///   - y: nil: in place.
  func normalize(
    _ x: UnsafeMutablePointer<Float>, _ blocks: Range<Int>, _ norm: Parameters.Norm, features: Int? = nil,
    to y: UnsafeMutablePointer<Float>? = nil
  ) {
    norm.apply(x, blocks: blocks.count, features: features ?? layerWidth, to: y ?? x, encoder.kernels)
  }

  // MARK: - Linear layers

  /// Converts the activations of some blocks to the form that the encoder's arithmetic multiplies.
  func pack(
    _ x: UnsafePointer<Float>, _ blocks: Range<Int>, features: Int, _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    encoder.pack(
      x, blocks: blocks.count, features: features,
      Encoder.PackingSpace(elements: scratch.packed, scale: scratch.scale, offset: scratch.offset))
  }

  /// Computes y = epilogue(x · weightᵀ + bias) for some blocks. `stride` is in elements from one block of y
  /// to the next.
  func multiply(
    _ layer: LinearLayer, _ x: PackedActivations, _ blocks: Range<Int>, _ epilogue: Int32,
    _ y: UnsafeMutableRawPointer, stride: Int? = nil
  ) {
    encoder.multiply(layer, x, blocks: blocks.count, epilogue, y, stride: stride ?? layer.outs * Self.lanes)
  }
}
