extension EncoderPass {
  /// Takes one chunk through all layers on this thread.
  func computeAlone(chunk index: Int, seat: Int) {
    guard !state.isStopped else { return }
    let chunk = chunks[index]
    withScratch(seat: seat, chunk: chunk) { workspace, scratch throws(BertQAError) in
      let activations = try workspace.activations(
        floatsPerFeature: chunk.blocks * Self.lanes, hiddenSize: hiddenSize,
        projectionSize: encoder.projectionSize)
      let active = ActiveChunk(chunk: chunk, activations: activations)
      computeGroups(seat: seat, chunk: chunk) { blocks in
        embed(active, blocks, scratch)
      }
      for layer in 0..<encoder.parameters.layers.count {
        for member in chunk.members {
          for head in 0..<encoder.configuration.headCount {
            attend(active, member: members[member], head: head, queries: nil, scratch)
          }
          poll(seat: seat)
          if state.isStopped { return }
        }
        computeGroups(seat: seat, chunk: chunk) { blocks in
          transform(active, layer: layer, blocks, scratch)
        }
      }
      guard !state.isStopped else { return }
      for member in chunk.members { pool(active, members[member]) }
    }
  }

  private func computeGroups(seat: Int, chunk: ChunkPlan.Chunk, _ body: (Range<Int>) -> Void) {
    let groups = (chunk.blocks + encoder.groupBlocks - 1) / encoder.groupBlocks
    for group in 0..<groups where !state.isStopped {
      body(Self.blocks(of: group, of: groups, in: chunk))
      poll(seat: seat)
    }
  }

  /// An even share of a chunk's blocks. Kernels like blocks in pairs, so shares are even numbers
  /// unless that would make the largest share larger.
  static func blocks(of group: Int, of groups: Int, in chunk: ChunkPlan.Chunk) -> Range<Int> {
    let blocks = chunk.blocks
    let pairs = (blocks + 1) / 2
    guard 2 * ((pairs + groups - 1) / groups) <= (blocks + groups - 1) / groups else {
      return blocks * group / groups..<blocks * (group + 1) / groups
    }
    return min(blocks, 2 * (pairs * group / groups))..<min(blocks, 2 * (pairs * (group + 1) / groups))
  }
}
