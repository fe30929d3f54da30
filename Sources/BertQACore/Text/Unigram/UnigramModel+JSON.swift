extension UnigramModel {
  /// Reads the "model" of a `tokenizer.json`: "vocab" lists pieces with their scores.
  convenience init(_ model: ObjectReader) throws(BertQAError) {
    guard case .array(let entries)? = model.value("vocab") else {
      throw BertQAError(
        .invalidModel, "\(model.file): \"vocab\" is missing or not a list of pieces and scores")
    }
    // An array and its bytes for each piece.
    try Memory.require(136 * entries.count)
    var pieces: [[UInt8]] = []
    var scores: [Double] = []
    for entry in entries {
      guard case .array(let pair) = entry, pair.count == 2, case .string(let piece) = pair[0],
        case .number(let score) = pair[1]
      else {
        throw BertQAError(
          .invalidModel,
          "\(model.file): element \(pieces.count) of \"vocab\" is no pair of a piece and a score")
      }
      pieces.append(Array(piece.utf8))
      scores.append(score.double)
    }
    guard let unkID = try model.integer("unk_id", in: 0...Int(Int32.max)) else {
      throw BertQAError(
        .unsupported,
        "\(model.file): the Unigram model has no \"unk_id\", without which there are texts that it cannot spell"
      )
    }
    let byteFallback = try model.bool("byte_fallback") ?? false
    let vocabulary: Vocabulary
    do {
      vocabulary = try Vocabulary(pieces: pieces)
    } catch {
      throw BertQAError(error.status, "\(model.file): \(error.message)")
    }
    try self.init(vocabulary, scores: scores, unkID: unkID, byteFallback: byteFallback, file: model.file)
  }
}
