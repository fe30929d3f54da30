extension EncoderPass {
  /// Writes a window's vector, where the pass is for vectors. The chunk must be through all layers.
  func pool(_ active: ActiveChunk, _ member: ChunkPlan.Member) {
    guard case .windowVectors(let vectors, let kind) = output else { return }
    let vector = vectors + member.window * hiddenSize
    let blockFloats = hiddenSize * Self.lanes
    let first = active.activations.hidden + member.lane / Self.lanes * blockFloats
    switch kind {
    case .first:
      let column = first + member.lane % Self.lanes
      for feature in 0..<hiddenSize { vector[feature] = column[feature * Self.lanes] }
    case .mean:
      let tokens = windows[member.window].tokenCount
      let scale = 1 / Float(tokens)
      for feature in 0..<hiddenSize {
        vector[feature] =
          scale * sum(first + feature * Self.lanes, lane: member.lane % Self.lanes, tokens, blockFloats)
      }
    }
  }

  /// Sum over a window's tokens, whose first is at `lane`, a multiple of 4, of one feature's row in
  /// `block`. Four sums of every fourth token each: wherever the window lies, the order is the same.
  private func sum(
    _ block: UnsafePointer<Float>, lane: Int, _ tokens: Int, _ blockFloats: Int
  ) -> Float {
    var sums = SIMD4<Float>.zero
    var block = block
    var lane = lane
    for _ in 0..<tokens / 4 {
      sums += UnsafeRawPointer(block + lane).loadUnaligned(as: SIMD4<Float>.self)
      lane += 4
      if lane == Self.lanes {
        lane = 0
        block += blockFloats
      }
    }
    // What lies behind the window is another's, or rubbish.
    for rest in 0..<tokens % 4 { sums[rest] += block[lane + rest] }
    return (sums[0] + sums[1]) + (sums[2] + sums[3])
  }
}
