extension UnigramModel {
  /// Reads the "model" of a `tokenizer.json`: "vocab" lists pieces with their scores.
  convenience init(_ model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) {
    guard case .array(let entries)? = model.value("vocab") else {
      throw BertQAError(
        .invalidModel, "\(model.file): \"vocab\" is missing or not a list of pieces and scores")
    }
    // An array and its bytes for each piece.
    try Memory.require(136 * entries.count)
    var pieces: [[UInt8]] = []
    var scores: [Double] = []
    for entry in entries {
      if pieces.count % Pipeline.checkInterval == 0 { try monitor?.check() }
      guard case .array(let pair) = entry, pair.count == 2, case .string(let piece) = pair[0],
        case .number(let score) = pair[1]
      else {
        throw BertQAError(
          .invalidModel,
          "\(model.file): element \(pieces.count) of \"vocab\" is not a pair of a piece and a score")
      }
      pieces.append(Array(piece.utf8))
      scores.append(Self.score(score.double))
    }
    guard let unkID = try model.integer("unk_id", in: 0...Int(Int32.max)) else {
      throw BertQAError(
        .unsupported,
        "\(model.file): the Unigram model has no \"unk_id\", without which there are texts that it cannot spell"
      )
    }
    let byteFallback = try model.bool("byte_fallback") ?? false
    let vocabulary = try BertQAError.naming(model.file) { () throws(BertQAError) in
      try Vocabulary(pieces: pieces, monitor)
    }
    try self.init(
      vocabulary, scores: scores, unkID: unkID, byteFallback: byteFallback, file: model.file, monitor)
  }

  /// Returns a score as `tokenizers` reads it, with serde_json: the digits as an integer, divided by a power of ten,
  /// each rounded. It may be off by one unit in the last place, and that decides between splits of equal score of a
  /// run of one character.
  private static func score(_ value: Double) -> Double {
    var significand: UInt64 = 0
    var scale = 0
    var isFraction = false
    for byte in value.magnitude.description.utf8 {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        // At most 17 digits, and a zero after the point.
        significand = significand * 10 + UInt64(byte - UInt8(ascii: "0"))
        if isFraction { scale += 1 }
      // Very small or large, unlike any log probability of a piece.
      default: return value
      }
    }
    guard scale < powersOfTen.count else { return value }
    let magnitude = Double(significand) / powersOfTen[scale]
    return value < 0 ? -magnitude : magnitude
  }

  /// Each is exact as a double.
  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20,
    1e21, 1e22,
  ]
}
