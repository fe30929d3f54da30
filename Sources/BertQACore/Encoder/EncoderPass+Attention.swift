import CBertQA

extension EncoderPass {
  /// Query, key and value of some blocks, which the layer's norm comes before in pre-norm families: as bf16 where
  /// attention takes that (query and key in pairs).
  func project(
    _ active: ActiveChunk, _ layer: Parameters.Layer, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let part = hiddenSize * Self.lanes
    let hidden = active.activations.hidden + blocks.lowerBound * part
    var normalized = UnsafePointer(hidden)
    if encoder.configuration.family.norm == .layerNormBefore, let norm = layer.attentionNorm {
      normalize(hidden, blocks, norm, to: scratch.normalized)
      normalized = UnsafePointer(scratch.normalized)
    }
    let input = pack(normalized, blocks, features: hiddenSize, scratch)
    let bf16 = encoder.attendsInBF16
    let size = bf16 ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride
    let projections = active.activations.projections + blocks.lowerBound * 3 * part * size
    func apply(_ layer: LinearLayer, _ index: Int, _ bf16Epilogue: Int32) {
      multiply(
        layer, input, blocks, bf16 ? bf16Epilogue : Kernels.Epilogue.bias, projections + index * part * size,
        stride: 3 * part)
    }
    switch layer.projections {
    case .together(let all):
      apply(all, 0, Kernels.Epilogue.bias)
    case .separate(let query, let key, let value):
      if bf16, let rotary = layer.rotary {
        // Turned before they are rounded.
        let turned = scratch.intermediate
        multiply(query, input, blocks, Kernels.Epilogue.bias, turned, stride: 2 * part)
        multiply(key, input, blocks, Kernels.Epilogue.bias, turned + part, stride: 2 * part)
        rotate(active.chunk, blocks, rotary, turned, stride: 2 * part, scratch)
        let pairs = projections.assumingMemoryBound(to: UInt16.self)
        for block in 0..<blocks.count {
          encoder.kernels.table.pack_bf16(
            turned + block * 2 * part, 1, 2 * hiddenSize, pairs + block * 3 * part)
        }
        return apply(value, 2, Kernels.Epilogue.bf16)
      }
      apply(query, 0, Kernels.Epilogue.bf16Pairs)
      apply(key, 1, Kernels.Epilogue.bf16Pairs)
      apply(value, 2, Kernels.Epilogue.bf16)
    }
    if let rotary = layer.rotary {
      rotate(
        active.chunk, blocks, rotary, projections.assumingMemoryBound(to: Float.self), stride: 3 * part,
        scratch)
    }
  }

  /// Turns queries and keys, which lie side by side, of some blocks by their tokens' positions.
  /// - Parameters:
  ///   - x: at the first block's queries.
  ///   - stride: floats from one block to the next.
  private func rotate(
    _ chunk: ChunkPlan.Chunk, _ blocks: Range<Int>, _ rotary: RotaryTable,
    _ x: UnsafeMutablePointer<Float>, stride: Int, _ scratch: Workspace.Scratch
  ) {
    let headSize = encoder.configuration.headSize
    for block in blocks {
      // Lanes without a token hold numbers too.
      scratch.turns.update(repeating: 0, count: headSize * Self.lanes)
      forEachWindow(chunk, block..<block + 1) { _, tokens, lane in
        rotary.copy(tokens, lane: lane - block * Self.lanes, to: scratch.turns)
      }
      encoder.kernels.table.rotate_f32(
        x + (block - blocks.lowerBound) * stride, 2 * encoder.configuration.headCount, headSize,
        scratch.turns)
    }
  }

  /// One head's attention of one window; `queries` are counted within the window, nil means all.
  func attend(
    _ active: ActiveChunk, layer: Int, member: ChunkPlan.Member, head: Int, queries: Range<Int>?,
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
}
