import CBertQA

extension EncoderPass {
  /// Computes query, key and value of some blocks, in pre-norm families after the layer's norm. They are in
  /// bf16 if attention takes that (query and key in pairs).
  func project(
    _ active: ActiveChunk, layer index: Int, _ blocks: Range<Int>, _ scratch: Workspace.Scratch
  ) {
    let layer = encoder.parameters.layers[index]
    let part = layerWidth * Self.lanes
    let stride = encoder.projectionCount * part
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    var normalized = UnsafePointer(hidden)
    if encoder.configuration.family.norm == .layerNormBefore, let norm = layer.attentionNorm {
      normalize(hidden, blocks, norm, to: scratch.normalized)
      normalized = UnsafePointer(scratch.normalized)
    }
    var input = pack(normalized, blocks, features: hiddenSize, scratch)
    if let narrow = layer.narrow { input = enter(active, narrow, input, blocks, scratch) }
    let bf16 = encoder.attendsInBF16
    let size = bf16 ? MemoryLayout<UInt16>.stride : MemoryLayout<Float>.stride
    let projections = active.activations.projections + blocks.lowerBound * stride * size
    func apply(_ layer: LinearLayer, _ index: Int, _ bf16Epilogue: Int32) {
      multiply(
        layer, input, blocks, bf16 ? bf16Epilogue : Kernels.Epilogue.bias, projections + index * part * size,
        stride: stride)
    }
    /// The same for some of the blocks.
    func apply(_ layer: LinearLayer, _ index: Int, _ bf16Epilogue: Int32, to run: Range<Int>) {
      let skipped = run.lowerBound - blocks.lowerBound
      multiply(
        layer, input.dropping(blocks: skipped, features: layer.ins), run,
        bf16 ? bf16Epilogue : Kernels.Epilogue.bias, projections + (skipped * stride + index * part) * size,
        stride: stride)
    }
    // Query and key are rotated together, so both need all blocks.
    let readsAll = layer.rotary != nil || !readsTokens(inLayer: index)
    func applyQuery(_ query: LinearLayer, _ bf16Epilogue: Int32) {
      guard !readsAll else { return apply(query, 0, bf16Epilogue) }
      forEachReadRun(active.chunk, blocks) { apply(query, 0, bf16Epilogue, to: $0) }
    }
    if let global = layer.global {
      forEachGlobalRun(active.chunk, blocks) { apply(global.query, 3, Kernels.Epilogue.bf16Pairs, to: $0) }
      apply(global.key, 4, Kernels.Epilogue.bf16Pairs)
      apply(global.value, 5, Kernels.Epilogue.bf16)
    }
    switch layer.projections {
    case .together(let all) where readsAll:
      apply(all, 0, Kernels.Epilogue.bias)
    case .together(let all):
      applyQuery(all.rows(0..<layerWidth), Kernels.Epilogue.bias)
      apply(all.rows(layerWidth..<3 * layerWidth), 1, Kernels.Epilogue.bias)
    case .separate(let query, let key, let value):
      if bf16, let rotary = layer.rotary {
        // Rotated before they are rounded.
        let turned = scratch.intermediate
        multiply(query, input, blocks, Kernels.Epilogue.bias, turned, stride: 2 * part)
        multiply(key, input, blocks, Kernels.Epilogue.bias, turned + part, stride: 2 * part)
        rotate(active.chunk, blocks, rotary, turned, stride: 2 * part, scratch)
        let pairs = projections.assumingMemoryBound(to: UInt16.self)
        for block in 0..<blocks.count {
          encoder.kernels.table.pack_bf16(
            turned + block * 2 * part, 1, 2 * hiddenSize, pairs + block * stride)
        }
        return apply(value, 2, Kernels.Epilogue.bf16)
      }
      apply(value, 2, Kernels.Epilogue.bf16)
      if let step = layer.narrow?.attention { input = narrowed(step, input, blocks, scratch) }
      applyQuery(query, Kernels.Epilogue.bf16Pairs)
      apply(key, 1, Kernels.Epilogue.bf16Pairs)
    }
    if let rotary = layer.rotary {
      rotate(
        active.chunk, blocks, rotary, projections.assumingMemoryBound(to: Float.self), stride: stride,
        scratch)
    }
  }

  /// Rotates the queries and keys of some blocks, which are side by side, by their tokens' positions.
  /// - Parameters:
  ///   - x: points at the queries of the first block.
  ///   - stride: floats from one block to the next.
  private func rotate(
    _ chunk: ChunkPlan.Chunk, _ blocks: Range<Int>, _ rotary: RotaryTable,
    _ x: UnsafeMutablePointer<Float>, stride: Int, _ scratch: Workspace.Scratch
  ) {
    let headSize = encoder.configuration.headSize
    for block in blocks {
      // Unused lanes hold numbers too.
      scratch.turns.update(repeating: 0, count: headSize * Self.lanes)
      forEachWindow(chunk, block..<block + 1) { _, tokens, lane in
        rotary.copy(tokens, lane: lane - block * Self.lanes, to: scratch.turns)
      }
      encoder.kernels.table.rotate_f32(
        x + (block - blocks.lowerBound) * stride, 2 * encoder.configuration.headCount, headSize,
        scratch.turns)
    }
  }

  /// The number of queries that a local layer's attention takes at once, a multiple of two of the kernels' blocks. They
  /// share the keys from the reach of the first query to the reach of the last.
  static func localQueries(reach: Int) -> Int { max(1, reach / (4 * lanes)) * 2 * lanes }

  /// Computes the attention of one head in one window, or only that of the read tokens if the layer computes only
  /// these. A local layer divides the queries; global tokens attend to the whole window.
  /// - Parameter queries: counted within the window; nil: all. In local layers they start at a multiple of
  ///   `localQueries`.
  func attendInWindow(
    _ active: ActiveChunk, layer: Int, member: ChunkPlan.Member, head: Int, queries: Range<Int>?,
    _ scratch: Workspace.Scratch
  ) {
    let tokens = windows[member.window].tokenCount
    let attended = tokens - windows[member.window].unattendedCount
    let globals = globalCount(of: windows[member.window])
    var (band, unit) = (0, 1)
    if let reach = encoder.parameters.layers[layer].reach, reach < tokens - 1 {
      (band, unit) = (reach, Self.localQueries(reach: reach))
    }
    func attend(_ queries: Range<Int>, in part: Range<Int>) {
      guard band > 0 else {
        return attendToKeys(active, layer, member, head: head, queries, keys: 0..<attended, scratch)
      }
      // Keys start at a multiple of 4. All queries reach the global tokens.
      var first = min(max(0, part.lowerBound - band), attended - 1) & ~3
      let reaching = globals > 0 ? tokens : min(tokens, attended + band)
      if globals > 0 { first = GatheredKeys.first(first, globals: globals) }
      if queries.lowerBound < reaching {
        attendToKeys(
          active, layer, member, head: head, queries.clamped(to: 0..<reaching),
          keys: first..<min(attended, part.upperBound + band), band: band, globals: globals, scratch)
      }
      // As PyTorch does for tokens that attend to none.
      let others = queries.clamped(to: reaching..<tokens)
      let headSize = encoder.configuration.headSize
      clearContext(
        active, lanes: member.lane + others.lowerBound..<member.lane + others.upperBound,
        features: head * headSize..<(head + 1) * headSize)
    }
    func attendGlobally(_ queries: Range<Int>) {
      attendToKeys(active, layer, member, head: head, queries, keys: 0..<attended, areGlobal: true, scratch)
    }
    // In an int8 call the scale of the keys depends on which keys are in a part, so parts must not depend on
    // the window's place in the chunk. In other calls parts cover whole blocks.
    let offset = encoder.attendsInInt8 ? 0 : member.lane % Self.lanes
    /// Returns the end of the part of a local layer's queries that includes a query.
    func partEnd(_ query: Int) -> Int {
      ((query + offset) / unit + 1) * unit - offset
    }
    var begin = queries?.lowerBound ?? 0
    let end = queries?.upperBound ?? tokens
    guard !readsTokens(inLayer: layer) else {
      for slot in 0..<readTokens.slots {
        let token = readTokens.token(slot, of: windows[member.window])
        if token < globals {
          attendGlobally(token..<token + 1)
          continue
        }
        let last = partEnd(token)
        attend(token..<token + 1, in: max(globals, last - unit)..<min(tokens, last))
      }
      return
    }
    if begin < globals {
      attendGlobally(begin..<min(globals, end))
      begin = globals
    }
    guard begin < end else { return }
    guard band > 0 else { return attend(begin..<end, in: begin..<end) }
    while begin < end {
      let part = begin..<min(end, partEnd(begin))
      attend(part, in: part)
      begin = part.upperBound
    }
  }

  /// Sets some features of attention's result to 0 in some lanes of a chunk.
  func clearContext(_ active: ActiveChunk, lanes: Range<Int>, features: Range<Int>) {
    for lane in lanes {
      let column =
        active.activations.context + lane / Self.lanes * layerWidth * Self.lanes + lane % Self.lanes
      for feature in features { column[feature * Self.lanes] = 0 }
    }
  }

  /// Computes one head's attention of some queries to some keys, with the model's bias.
  /// - Parameters:
  ///   - globals: the number of the window's first tokens to which the queries of a band attend as well.
  ///   - areGlobal: true if the queries are global tokens.
  private func attendToKeys(
    _ active: ActiveChunk, _ layer: Int, _ member: ChunkPlan.Member, head: Int, _ queries: Range<Int>,
    keys: Range<Int>, band: Int = 0, globals: Int = 0, areGlobal: Bool = false, _ scratch: Workspace.Scratch
  ) {
    let headSize = encoder.configuration.headSize
    let part = layerWidth * Self.lanes
    let feature = head * headSize * Self.lanes
    var call = bq_attention()
    call.stride = encoder.projectionCount * part
    (call.key_begin, call.key_end) = (member.lane + keys.lowerBound, member.lane + keys.upperBound)
    (call.query_begin, call.query_end) = (member.lane + queries.lowerBound, member.lane + queries.upperBound)
    call.head_dim = headSize
    call.scale = encoder.configuration.attentionScale
    (call.band, call.always) = (band, globals)
    call.scratch = scratch.attention
    call.out_stride = part
    let projections = HeadProjections(
      query: active.activations.projections + (feature + (areGlobal ? 3 * part : 0)) * encoder.projectionSize,
      part: part * encoder.projectionSize)
    let output = active.activations.context + feature
    let parameters = encoder.parameters
    if let biases = parameters.distanceBiases {
      let firstLane = call.query_begin / Self.lanes * Self.lanes
      call.bias = biases.base(head: head) + firstLane - call.key_begin
      (call.bias_stride, call.bias_step) = (Self.lanes, -1)
    } else if let distances = parameters.distances, let vectors = parameters.layers[layer].distanceVectors {
      return attendByDistance(call, head: head, projections, distances, vectors, scratch, output)
    } else if globals > 0, keys.lowerBound > 0 {
      return attendToGathered(call, window: member.lane, projections, scratch, output)
    }
    callAttentionKernel(&call, projections, output)
  }

  /// Query, key and value of one head in block 0 of a chunk.
  struct HeadProjections {
    var query: UnsafeMutableRawPointer
    /// The bytes from query to key and from key to value.
    var part: Int

    var key: UnsafeMutableRawPointer { query + part }
    var value: UnsafeMutableRawPointer { query + 2 * part }
  }

  /// Calls the kernel of the encoder's arithmetic.
  func callAttentionKernel(
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
