import CBertQA

extension EncoderPass {
  /// For some blocks of a chunk: adds word, position and token type embeddings, and applies their norm and
  /// projection.
  func embed(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    let parameters = encoder.parameters
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    let blockFloats = embeddingSize * Self.lanes
    // [block][embeddingSize][16], and one token's row before it is transposed.
    var (embeddings, row) = (hidden, scratch.intermediate)
    if parameters.embeddingProjection != nil {
      (embeddings, row) = (scratch.intermediate, scratch.intermediate + blocks.count * blockFloats)
    }
    embeddings.update(repeating: 0, count: blocks.count * blockFloats)
    let hasSegments = encoder.configuration.hasSegmentTypes
    forEachWindow(active.chunk, blocks) { window, tokens, lane in
      var positions = PositionRows(of: tokens, in: window, ids, encoder.configuration)
      for token in tokens {
        let id = ids[window.firstToken + token]
        sumEmbeddings(
          of: id, position: positions.next(id),
          type: hasSegments && token >= window.secondSegment ? 1 : 0, row)
        let at = lane + token - tokens.lowerBound - blocks.lowerBound * Self.lanes
        let column = embeddings + at / Self.lanes * blockFloats + at % Self.lanes
        for feature in 0..<embeddingSize { column[feature * Self.lanes] = row[feature] }
      }
    }
    normalize(embeddings, blocks, parameters.embeddingNorm, features: embeddingSize)
    if let projection = parameters.embeddingProjection {
      multiply(projection, .f32(embeddings), blocks, Kernels.Epilogue.bias, hidden)
    }
  }

  /// Adds up one token's embeddings, [embeddingSize].
  private func sumEmbeddings(
    of id: Int32, position: Int, type: Int, _ row: UnsafeMutablePointer<Float>
  ) {
    encoder.parameters.wordEmbeddings.copyFloats(rows: Int(id)..<Int(id) + 1, to: row)
    if let positions = encoder.parameters.positionEmbeddings {
      let position = positions + position * embeddingSize
      for feature in 0..<embeddingSize { row[feature] += position[feature] }
    }
    if let task = encoder.parameters.taskEmbedding {
      for feature in 0..<embeddingSize { row[feature] += task[feature] }
    }
    guard let types = encoder.parameters.tokenTypeEmbeddings else { return }
    let kind = types + min(type, encoder.configuration.typeVocabSize - 1) * embeddingSize
    for feature in 0..<embeddingSize { row[feature] += kind[feature] }
  }
}

/// The rows of the position table for a window's tokens, in order.
private struct PositionRows {
  private var row: Int
  private let paddingID: Int?

  /// Starts at the first of `tokens`.
  init(
    of tokens: Range<Int>, in window: Window, _ ids: UnsafeBufferPointer<Int32>,
    _ configuration: ModelConfiguration
  ) {
    paddingID = configuration.paddingID
    row = configuration.firstPositionRow + tokens.lowerBound
    guard let paddingID else { return }
    for token in 0..<tokens.lowerBound where Int(ids[window.firstToken + token]) == paddingID { row -= 1 }
  }

  /// Returns the row of the next token. As in transformers, padding has its own row and is not counted.
  mutating func next(_ id: Int32) -> Int {
    if let paddingID, Int(id) == paddingID { return paddingID }
    defer { row += 1 }
    return row
  }
}
