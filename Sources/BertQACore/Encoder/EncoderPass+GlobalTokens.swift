import CBertQA

/// The keys of some queries of a local layer, side by side for one call of a kernel: a window's global tokens, then the
/// tokens that the queries reach. [block][query, key, value][headSize][16] in scratch memory, after attention's own.
enum GatheredKeys {
  /// The floats of all blocks of a window. Global tokens take whole blocks of their own.
  static func count(tokens: Int, headSize: Int) -> Int {
    (Kernels.blocks(tokens: tokens) + 2) * 3 * headSize * Kernels.lanes
  }

  /// The number of tokens that global ones take.
  static func prefix(globals: Int) -> Int { Kernels.blocks(tokens: globals) * Kernels.lanes }

  /// Returns the first key for queries that reach a token: at most that token, and whole blocks from the window's
  /// start. 0 if no token lies between the global ones and it, so that nothing has to be gathered.
  static func first(_ token: Int, globals: Int) -> Int {
    let first = token / Kernels.lanes * Kernels.lanes
    return first > prefix(globals: globals) ? first : 0
  }
}

extension EncoderPass {
  /// Returns the number of a window's first tokens that are global.
  func globalCount(of window: Window) -> Int {
    switch encoder.configuration.local?.globalTokens {
    case nil, .some(.none): return 0
    case .first: return 1
    case .before(let separator):
      let tokens = ids[window.firstToken..<window.firstToken + window.tokenCount - window.unattendedCount]
      return (tokens.firstIndex(of: separator) ?? tokens.endIndex) - window.firstToken
    }
  }

  /// Calls `body` for each run of blocks with global tokens of a window.
  func forEachGlobalRun(_ chunk: ChunkPlan.Chunk, _ blocks: Range<Int>, _ body: (Range<Int>) -> Void) {
    var next = blocks.lowerBound
    for index in chunk.members {
      let member = members[index]
      let globals = globalCount(of: windows[member.window])
      let run = max(next, member.lane / Self.lanes)..<max(next, Kernels.blocks(tokens: member.lane + globals))
      let covered = run.clamped(to: blocks)
      guard !covered.isEmpty else { continue }
      body(covered)
      next = covered.upperBound
    }
  }

  /// Computes one head's attention of some queries to keys that are not adjacent to the window's global tokens, and to
  /// these.
  /// - Parameters:
  ///   - call: the attention to the keys, which begin at `GatheredKeys.first`.
  ///   - start: the window's first lane within the chunk.
  func attendToGathered(
    _ call: bq_attention, window start: Int, _ x: HeadProjections, _ scratch: Workspace.Scratch,
    _ output: UnsafeMutablePointer<Float>
  ) {
    let size = encoder.projectionSize
    let part = call.head_dim * Self.lanes * size
    let keys = Int(call.key_end) - start
    let own =
      encoder.attendsInInt8 ? bq_attention_s8_scratch(keys, call.head_dim) : bq_attention_scratch(keys)
    let target = UnsafeMutableRawPointer(scratch.attention + DistanceScratch.aligned(own))
    // Blocks are counted from the window's first one.
    let first = start / Self.lanes
    let prefix = GatheredKeys.prefix(globals: call.always) / Self.lanes
    let skipped = (call.key_begin - start) / Self.lanes - prefix
    /// Copies the query, key or value of a block, as far as the lanes reach.
    func copy(_ index: Int, from source: Int, to block: Int, lanes: Int = Self.lanes) {
      let from = x.query + index * x.part + (first + source) * call.stride * size
      let to = target + (3 * block + index) * part
      if lanes == Self.lanes { return to.copyMemory(from: from, byteCount: part) }
      // In bf16, queries and keys have pairs of features in a lane.
      let laneSize = index < 2 ? MemoryLayout<Float>.stride : size
      for row in stride(from: 0, to: part, by: laneSize * Self.lanes) {
        (to + row).copyMemory(from: from + row, byteCount: lanes * laneSize)
      }
    }
    for index in 1...2 {
      for block in 0..<prefix { copy(index, from: block, to: block) }
      for block in prefix..<(call.key_end - 1) / Self.lanes + 1 - first - skipped {
        copy(index, from: block + skipped, to: block)
      }
      // Where a window does not start with a block, global tokens end in the block of the first key.
      copy(index, from: prefix, to: prefix, lanes: start % Self.lanes)
    }
    for block in call.query_begin / Self.lanes..<(call.query_end - 1) / Self.lanes + 1 {
      copy(0, from: block - first, to: block - first - skipped)
    }
    var call = call
    let moved = (first + skipped) * Self.lanes
    call.stride = 3 * call.head_dim * Self.lanes
    (call.key_begin, call.key_end) = (start % Self.lanes, call.key_end - moved)
    (call.query_begin, call.query_end) = (call.query_begin - moved, call.query_end - moved)
    callAttentionKernel(
      &call, HeadProjections(query: target, part: part), output + moved / Self.lanes * call.out_stride)
  }
}
