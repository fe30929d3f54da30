extension EncoderPass {
  /// Word + position + token type embeddings and their norm, then the first layer's projections, of
  /// some blocks of a chunk.
  func embed(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    let blockFloats = hiddenSize * Self.lanes
    let output = active.activations.hidden + blocks.lowerBound * blockFloats
    output.update(repeating: 0, count: blocks.count * blockFloats)
    let row = scratch.intermediate
    forEachWindow(active.chunk, blocks) { window, tokens, lane in
      for token in tokens {
        sumEmbeddings(
          of: ids[window.firstToken + token], position: token,
          type: token < window.secondSegment ? 0 : 1, row)
        let at = lane + token - tokens.lowerBound - blocks.lowerBound * Self.lanes
        let column = output + at / Self.lanes * blockFloats + at % Self.lanes
        for feature in 0..<hiddenSize { column[feature * Self.lanes] = row[feature] }
      }
    }
    normalize(output, blocks, encoder.parameters.embeddingNorm)
    project(active, encoder.parameters.layers[0], blocks, scratch)
  }

  /// One token's embeddings, [hidden].
  private func sumEmbeddings(
    of id: Int32, position: Int, type: Int, _ row: UnsafeMutablePointer<Float>
  ) {
    encoder.parameters.wordEmbeddings.copyFloats(rows: Int(id)..<Int(id) + 1, to: row)
    let positions = encoder.parameters.positionEmbeddings + position * hiddenSize
    for feature in 0..<hiddenSize { row[feature] += positions[feature] }
    guard let types = encoder.parameters.tokenTypeEmbeddings else { return }
    let kind = types + min(type, encoder.configuration.typeVocabSize - 1) * hiddenSize
    for feature in 0..<hiddenSize { row[feature] += kind[feature] }
  }
}
