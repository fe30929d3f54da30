extension EncoderPass {
  /// All but attention of one layer for some blocks of a chunk, and what follows it: the next layer's
  /// projections or, after the last, the logits.
  func transform(
    _ active: ActiveChunk, layer index: Int, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let layers = encoder.parameters.layers
    let layer = layers[index]
    let offset = blocks.lowerBound * hiddenSize * Self.lanes
    let hidden = active.activations.hidden + offset
    let context = active.activations.context + offset
    let intermediate = scratch.intermediate
    linear(layer.attentionOutput, context, blocks, Kernels.Epilogue.residual, hidden)
    normalize(hidden, blocks, layer.attentionNorm)
    linear(layer.intermediate, hidden, blocks, Kernels.Epilogue.gelu, intermediate)
    linear(layer.output, intermediate, blocks, Kernels.Epilogue.residual, hidden)
    normalize(hidden, blocks, layer.outputNorm)
    if index + 1 < layers.count {
      project(active, layers[index + 1], blocks)
    } else {
      answer(active, blocks, scratch)
    }
  }

  /// Query, key and value of some blocks.
  func project(_ active: ActiveChunk, _ layer: FloatParameters.Layer, _ blocks: Range<Int>) {
    let input = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    let part = hiddenSize * Self.lanes
    let output = active.activations.projections + blocks.lowerBound * 3 * part
    func apply(_ layer: FloatParameters.Linear, _ output: UnsafeMutablePointer<Float>) {
      linear(layer, input, blocks, Kernels.Epilogue.bias, output, stride: 3 * part)
    }
    switch layer.projections {
    case .together(let all):
      apply(all, output)
    case .separate(let query, let key, let value):
      apply(query, output)
      apply(key, output + part)
      apply(value, output + 2 * part)
    }
  }

  /// One head's attention of one window; `queries` are counted within the window, nil means all.
  func attend(
    _ active: ActiveChunk, member: ChunkPlan.Member, head: Int, queries: Range<Int>?,
    _ scratch: Workspace.Scratch
  ) {
    let tokens = windows[member.window].tokenCount
    let headDim = hiddenSize / encoder.configuration.headCount
    let feature = head * headDim * Self.lanes
    let query = active.activations.projections + feature
    encoder.kernels.table.attention_f32(
      query, query + hiddenSize * Self.lanes, query + 2 * hiddenSize * Self.lanes,
      3 * hiddenSize * Self.lanes, member.lane, tokens, queries?.lowerBound ?? 0,
      queries?.upperBound ?? tokens, headDim, 1 / Float(headDim).squareRoot(), scratch.attention,
      active.activations.context + feature, hiddenSize * Self.lanes)
  }

  /// The question-answering head.
  private func answer(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    let head = encoder.parameters.questionAnswering
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    let logits = scratch.intermediate
    linear(head, hidden, blocks, Kernels.Epilogue.bias, logits)
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
    _ x: UnsafeMutablePointer<Float>, _ blocks: Range<Int>, _ norm: FloatParameters.Norm
  ) {
    encoder.kernels.table.layer_norm_f32(
      x, blocks.count, hiddenSize, norm.gamma, norm.beta, encoder.configuration.layerNormEps, x)
  }

  private func linear(
    _ layer: FloatParameters.Linear, _ x: UnsafePointer<Float>, _ blocks: Range<Int>,
    _ epilogue: Int32, _ y: UnsafeMutablePointer<Float>, stride: Int? = nil
  ) {
    encoder.kernels.table.linear_f32(
      layer.weight, layer.bias, x, blocks.count, layer.ins, layer.outs, epilogue, y,
      stride ?? layer.outs * Self.lanes)
  }
}
