/// The tokens of a window whose vectors of the last layer are read. The last layer computes queries, attention and
/// feed-forward only for these, but keys and values for all tokens.
struct ReadTokens {
  private let first: Bool
  private let last: Bool

  init(_ input: HeadInput) {
    guard case .window(let pooling) = input,
      pooling.modes.allSatisfy({ $0 == .first || $0 == .last })
    else {
      (first, last) = (false, false)
      return
    }
    (first, last) = (pooling.modes.contains(.first), pooling.modes.contains(.last))
  }

  /// True if all tokens are read.
  var isAll: Bool { !first && !last }

  /// The number of read tokens in a window: 1 or 2, which may be the same token; 0 if all are read.
  var slots: Int { (first ? 1 : 0) + (last ? 1 : 0) }

  /// Returns the token in a slot, in the order of the text.
  func token(_ slot: Int, of window: Window) -> Int {
    first && slot == 0 ? window.unpooledCount : window.tokenCount - 1
  }
}

extension EncoderPass {
  /// True if a layer computes only the read tokens.
  func readsTokens(inLayer layer: Int) -> Bool {
    !readTokens.isAll && layer + 1 == encoder.parameters.layers.count
  }

  /// The number of blocks that are to be computed after a layer's attention.
  func blocks(toFinish layer: Int, of chunk: ChunkPlan.Chunk) -> Int {
    guard readsTokens(inLayer: layer) else { return chunk.blocks }
    return Kernels.blocks(tokens: chunk.members.count * readTokens.slots)
  }

  /// Moves the read tokens' residual streams and attention to the first lanes of a chunk: window 0's slots, window
  /// 1's slots and so on.
  func gatherReadTokens(_ active: ActiveChunk) {
    let slots = readTokens.slots
    for (ordinal, index) in active.chunk.members.enumerated() {
      let member = members[index]
      for slot in 0..<slots {
        // A window has at least four lanes, so no later window's token is overwritten.
        let source = member.lane + readTokens.token(slot, of: windows[member.window])
        let target = ordinal * slots + slot
        move(active.activations.hidden, features: hiddenSize, from: source, to: target)
        move(active.activations.context, features: layerWidth, from: source, to: target)
        if active.activations.inner != active.activations.hidden {
          move(active.activations.inner, features: layerWidth, from: source, to: target)
        }
      }
    }
  }

  /// Copies one token's column of [block][features][16].
  private func move(_ x: UnsafeMutablePointer<Float>, features: Int, from source: Int, to target: Int) {
    guard source != target else { return }
    let from = x + source / Self.lanes * features * Self.lanes + source % Self.lanes
    let to = x + target / Self.lanes * features * Self.lanes + target % Self.lanes
    for feature in 0..<features { to[feature * Self.lanes] = from[feature * Self.lanes] }
  }

  /// Calls `body` for each run of neighbouring blocks with read tokens.
  func forEachReadRun(_ chunk: ChunkPlan.Chunk, _ blocks: Range<Int>, _ body: (Range<Int>) -> Void) {
    var run = blocks.lowerBound..<blocks.lowerBound
    for index in chunk.members {
      let member = members[index]
      for slot in 0..<readTokens.slots {
        let token = readTokens.token(slot, of: windows[member.window])
        let block = (member.lane + token) / Self.lanes
        guard blocks.contains(block), block >= run.upperBound else { continue }
        if block > run.upperBound {
          if !run.isEmpty { body(run) }
          run = block..<block
        }
        run = run.lowerBound..<block + 1
      }
    }
    if !run.isEmpty { body(run) }
  }
}
