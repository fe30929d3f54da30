import CBertQA

extension EncoderPass {
  /// One head's attention of one window; `queries` are counted within the window, nil means all.
  func attend(
    _ active: ActiveChunk, layer: Int, member: ChunkPlan.Member, head: Int, queries: Range<Int>?,
    _ scratch: Workspace.Scratch
  ) {
    let tokens = windows[member.window].tokenCount
    let headSize = encoder.configuration.headSize
    let part = hiddenSize * Self.lanes
    let feature = head * headSize * Self.lanes
    var call = bq_attention()
    call.stride = 3 * part
    (call.key_begin, call.key_end) = (member.lane, member.lane + tokens)
    call.query_begin = member.lane + (queries?.lowerBound ?? 0)
    call.query_end = member.lane + (queries?.upperBound ?? tokens)
    call.head_dim = headSize
    call.scale = encoder.configuration.attentionScale
    call.scratch = scratch.attention
    call.out_stride = part
    let projections = HeadProjections(
      query: active.activations.projections + feature * encoder.projectionSize,
      part: part * encoder.projectionSize)
    let output = active.activations.context + feature
    let parameters = encoder.parameters
    if let biases = parameters.distanceBiases {
      let firstLane = call.query_begin / Self.lanes * Self.lanes
      call.bias = biases.base(head: head) + firstLane - call.key_begin
      (call.bias_stride, call.bias_step) = (Self.lanes, -1)
    } else if let distances = parameters.distances, let vectors = parameters.layers[layer].distanceVectors {
      return attend(call, head: head, projections, distances, vectors, scratch, output)
    }
    attend(&call, projections, output)
  }

  /// One head's query, key and value in block 0 of a chunk.
  struct HeadProjections {
    var query: UnsafeMutableRawPointer
    /// Bytes from query to key and from key to value.
    var part: Int

    var key: UnsafeMutableRawPointer { query + part }
    var value: UnsafeMutableRawPointer { query + 2 * part }
  }

  func attend(
    _ call: inout bq_attention, _ x: HeadProjections, _ output: UnsafeMutablePointer<Float>
  ) {
    let table = encoder.kernels.table
    if encoder.attendsInBF16 {
      table.attention_bf16(
        &call, x.query.assumingMemoryBound(to: UInt16.self), x.key.assumingMemoryBound(to: UInt16.self),
        x.value.assumingMemoryBound(to: UInt16.self), output)
      return
    }
    let attention = encoder.attendsInInt8 ? table.attention_s8 : table.attention_f32
    attention?(
      &call, x.query.assumingMemoryBound(to: Float.self), x.key.assumingMemoryBound(to: Float.self),
      x.value.assumingMemoryBound(to: Float.self), output)
  }
}
