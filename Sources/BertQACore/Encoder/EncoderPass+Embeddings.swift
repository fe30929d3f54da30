import CBertQA

extension EncoderPass {
  /// For some blocks of a chunk: adds word, position and token type embeddings, and applies their norm and
  /// projection.
  func embed(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    if encoder.configuration.hasTrigrams { return embedTrigrams(active, blocks, scratch) }
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
        parameters.wordEmbeddings.copyFloats(rows: Int(id)..<Int(id) + 1, to: row)
        if let (left, right) = parameters.wordAdapter {
          let rank = right.count / embeddingSize
          AdapterWeights.add(left.base + Int(id) * rank, right.base, rank: rank, to: row, embeddingSize)
        }
        addPlace(
          position: positions.next(id), type: hasSegments && token >= window.secondSegment ? 1 : 0, row)
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

  /// As `embed`, with the words of three tokens: the next one, the token itself and the one before.
  private func embedTrigrams(_ active: ActiveChunk, _ blocks: Range<Int>, _ scratch: Workspace.Scratch) {
    let parameters = encoder.parameters
    guard let projection = parameters.embeddingProjection else { return }
    let hidden = active.activations.hidden + blocks.lowerBound * hiddenSize * Self.lanes
    // [block][3 · embeddingSize][16], and one token's row before it is transposed.
    let words = scratch.intermediate
    let row = words + blocks.count * projection.ins * Self.lanes
    words.update(repeating: 0, count: blocks.count * projection.ins * Self.lanes)
    hidden.update(repeating: 0, count: blocks.count * hiddenSize * Self.lanes)
    let hasSegments = encoder.configuration.hasSegmentTypes
    forEachWindow(active.chunk, blocks) { window, tokens, lane in
      var positions = PositionRows(of: tokens, in: window, ids, encoder.configuration)
      for token in tokens {
        let at = lane + token - tokens.lowerBound - blocks.lowerBound * Self.lanes
        func place(_ row: UnsafePointer<Float>, count: Int, in x: UnsafeMutablePointer<Float>, features: Int)
        {
          let column = x + at / Self.lanes * features * Self.lanes + at % Self.lanes
          for feature in 0..<count { column[feature * Self.lanes] = row[feature] }
        }
        // Beyond the window's ends there are zeros.
        for part in 0..<3 where 0..<window.tokenCount ~= token + 1 - part {
          let id = Int(ids[window.firstToken + token + 1 - part])
          parameters.wordEmbeddings.copyFloats(rows: id..<id + 1, to: row)
          place(
            row, count: embeddingSize, in: words + part * embeddingSize * Self.lanes, features: projection.ins
          )
        }
        row.update(repeating: 0, count: hiddenSize)
        addPlace(
          position: positions.next(ids[window.firstToken + token]),
          type: hasSegments && token >= window.secondSegment ? 1 : 0, row)
        place(row, count: hiddenSize, in: hidden, features: hiddenSize)
      }
    }
    multiply(projection, .f32(words), blocks, Kernels.Epilogue.residual, hidden)
    normalize(hidden, blocks, parameters.embeddingNorm, features: hiddenSize)
  }

  /// Adds the embeddings of one token's position, task and type, [positionSize].
  private func addPlace(position: Int, type: Int, _ row: UnsafeMutablePointer<Float>) {
    let size = encoder.configuration.positionSize
    if let positions = encoder.parameters.positionEmbeddings {
      let position = positions + position * size
      for feature in 0..<size { row[feature] += position[feature] }
    }
    if let task = encoder.parameters.taskEmbedding {
      for feature in 0..<size { row[feature] += task[feature] }
    }
    guard let types = encoder.parameters.tokenTypeEmbeddings else { return }
    let kind = types + min(type, encoder.configuration.typeVocabSize - 1) * size
    for feature in 0..<size { row[feature] += kind[feature] }
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
