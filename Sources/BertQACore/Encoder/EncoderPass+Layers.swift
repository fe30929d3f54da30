extension EncoderPass {
  /// All but attention of one layer for some blocks of a chunk, and what follows it: the next layer's
  /// projections or, after the last, the logits of tokens.
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
    } else if case .tokenLogits(let start, let end) = output {
      answer(active, blocks, start, end, scratch)
    }
  }

  /// The feed-forward layer's GELU of some blocks, ready for the next multiplication.
  private func activate(
    _ layer: Parameters.Layer, _ hidden: UnsafePointer<Float>, _ blocks: Range<Int>,
    _ scratch: Workspace.Scratch
  ) -> PackedActivations {
    let x = pack(hidden, blocks, features: hiddenSize, scratch)
    let y = scratch.intermediate
    if encoder.arithmetic == .bf16 {
      multiply(layer.intermediate, x, blocks, Kernels.Epilogue.geluBF16Pairs, y)
      return .bf16(UnsafePointer(UnsafeMutableRawPointer(y).assumingMemoryBound(to: UInt16.self)))
    }
    multiply(layer.intermediate, x, blocks, Kernels.Epilogue.gelu, y)
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

  /// One head's attention of one window; `queries` are counted within the window, nil means all.
  func attend(
    _ active: ActiveChunk, member: ChunkPlan.Member, head: Int, queries: Range<Int>?,
    _ scratch: Workspace.Scratch
  ) {
    let tokens = windows[member.window].tokenCount
    let headDim = encoder.configuration.headSize
    let part = hiddenSize * Self.lanes
    let feature = head * headDim * Self.lanes
    let (begin, end) = (queries?.lowerBound ?? 0, queries?.upperBound ?? tokens)
    let scale = 1 / Float(headDim).squareRoot()
    let output = active.activations.context + feature
    let table = encoder.kernels.table
    if encoder.attendsInBF16 {
      let query = active.activations.projections.assumingMemoryBound(to: UInt16.self) + feature
      table.attention_bf16(
        query, query + part, query + 2 * part, 3 * part, member.lane, tokens, begin, end, headDim, scale,
        scratch.attention, output, part)
      return
    }
    let query = active.activations.projections.assumingMemoryBound(to: Float.self) + feature
    let attention = encoder.attendsInInt8 ? table.attention_s8 : table.attention_f32
    attention?(
      query, query + part, query + 2 * part, 3 * part, member.lane, tokens, begin, end, headDim, scale,
      scratch.attention, output, part)
  }

  /// The question-answering head.
  private func answer(
    _ active: ActiveChunk, _ blocks: Range<Int>, _ start: UnsafeMutablePointer<Float>,
    _ end: UnsafeMutablePointer<Float>, _ scratch: Workspace.Scratch
  ) {
    guard case .questionAnswering(let head) = encoder.parameters.head else { return }
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    let logits = scratch.intermediate
    multiply(head, .f32(hidden), blocks, Kernels.Epilogue.bias, logits)
    forEachWindow(active.chunk, blocks) { window, tokens, lane in
      for token in tokens {
        let at = lane + token - tokens.lowerBound - blocks.lowerBound * Self.lanes
        let column = logits + at / Self.lanes * 2 * Self.lanes + at % Self.lanes
        start[window.firstToken + token] = column[0]
        end[window.firstToken + token] = column[Self.lanes]
      }
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
    _ x: UnsafeMutablePointer<Float>, _ blocks: Range<Int>, _ norm: Parameters.Norm
  ) {
    encoder.kernels.table.layer_norm_f32(
      x, blocks.count, hiddenSize, norm.gamma, norm.beta, encoder.configuration.layerNormEps, x)
  }
}
