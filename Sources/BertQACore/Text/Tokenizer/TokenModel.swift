/// Cuts words into pieces of a vocabulary: what tokenizers calls a model.
///
/// A new one is a conformance in a folder of its own and a case in `Pipeline.model`.
protocol TokenModel: Sendable {
  /// Its pieces as they are spelled. Ids that no piece has are spelled empty.
  var vocabulary: Vocabulary { get }

  /// How many of its ids are pieces: added tokens that are none get ids from there on.
  var pieceCount: Int { get }

  /// The id of what cannot be spelled with pieces.
  var unknownID: Int32? { get }

  /// How its pieces show where a word begins, unless a pre-tokenizer decides it.
  var wordMark: WordMark? { get }

  /// What it takes over from the pre-tokenizer before it.
  var takesOver: TakenStep? { get }

  /// The model at work on one text at a time.
  func makeWorker() throws(BertQAError) -> any TokenWorker

  /// A faster way for BERT's steps followed by this model; nil if there is none.
  func makeScanner(_ table: NormalizationTable, lowercases: Bool) throws(BertQAError) -> WordPieceScanner?

  /// Keeps the pieces that spell special tokens out of texts in which no special tokens are looked for. Called before
  /// the model is used.
  func keepAsText(_ tokens: [AddedToken])
}

extension TokenModel {
  var takesOver: TakenStep? { nil }
  func makeScanner(_ table: NormalizationTable, lowercases: Bool) -> WordPieceScanner? { nil }
  func keepAsText(_ tokens: [AddedToken]) {}
}

/// A change of the text that some models do without, and some pre-tokenizers then leave to them.
enum TakenStep: Sendable {
  /// Spelling bytes in `ByteAlphabet`: the model reads bytes.
  case spelling
  /// Writing marks before words: the model reads `Words.mark`.
  case marking
}

/// A model with the memory that it needs for one text at a time.
protocol TokenWorker: AnyObject {
  /// Appends the tokens of the words, in order, to `output`, with ranges in their text.
  func tokenize(_ words: borrowing Words, into output: inout TokenOutput) throws(BertQAError)
}

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
