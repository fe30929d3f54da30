extension Pipeline {
  /// Reads a model.
  /// - Parameter spelled: whether words come as bytes spelled in `ByteAlphabet`.
  static func model(
    _ model: ObjectReader, spelled: Bool, _ monitor: CallMonitor?
  ) throws(BertQAError) -> any TokenModel {
    // Old files do not say the type.
    let type = try model.string("type") ?? assumedType(model)
    switch type {
    case "BPE": return try BytePairModel(model, spelled: spelled, monitor)
    case "Unigram": return try UnigramModel(model, monitor)
    case "WordPiece": return try WordPieceModel(model, monitor)
    default:
      throw unsupported(model, "the model", type, supported: ["BPE", "Unigram", "WordPiece"])
    }
  }

  private static func assumedType(_ model: ObjectReader) -> String {
    if case .array? = model.value("vocab") { return "Unigram" }
    return model.value("merges") != nil ? "BPE" : "WordPiece"
  }

  /// The pieces of a model by id, from its object of pieces and their ids.
  static func pieces(of model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) -> [[UInt8]] {
    try pieces(model.required("vocab", model.reader("vocab")), monitor)
  }

  /// The pieces by id, from an object of pieces and their ids; ids without a piece are empty.
  static func pieces(
    _ vocabulary: ObjectReader, _ monitor: CallMonitor?
  ) throws(BertQAError) -> [[UInt8]] {
    let members = vocabulary.object.members
    var last = -1
    for member in members {
      guard let id = tokenID(member.value) else {
        throw vocabulary.mismatch(
          member.key, member.value, expected: "an id, an integer in 0...\(Vocabulary.maximumID)")
      }
      last = max(last, Int(id))
    }
    // An array and its bytes for each piece.
    try Memory.require(128 * (last + 1))
    var pieces: [[UInt8]] = Array(repeating: [], count: last + 1)
    for (index, member) in members.enumerated() {
      if index % checkInterval == 0 { try monitor?.check() }
      guard let id = tokenID(member.value) else { continue }
      guard pieces[Int(id)].isEmpty else {
        throw BertQAError(
          .invalidModel,
          "\(vocabulary.file): the pieces \(quoted(String(decoding: pieces[Int(id)], as: UTF8.self))) and "
            + "\(quoted(member.key)) have the same id, \(id)")
      }
      pieces[Int(id)] = Array(member.key.utf8)
    }
    return pieces
  }

  /// Pieces, or merges, that are read between two questions to the monitor.
  static let checkInterval = 4096

  /// An id in a file; nil if it is none.
  static func tokenID(_ value: JSON) -> Int32? {
    guard case .number(let number) = value, let integer = number.integer,
      0...Int64(Vocabulary.maximumID) ~= integer
    else { return nil }
    return Int32(integer)
  }
}
