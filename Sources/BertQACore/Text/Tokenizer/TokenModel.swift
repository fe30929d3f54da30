/// Splits pre-tokens into pieces of a vocabulary: a model of tokenizers.
///
/// To add one, add a conformance in a folder of its own and a case in `Pipeline.model`.
protocol TokenModel: Sendable {
  /// Its pieces by id. Ids without a piece have an empty spelling.
  var vocabulary: Vocabulary { get }

  /// The number of its ids that are pieces. Added tokens that are not pieces get ids from there on.
  var pieceCount: Int { get }

  /// The id of text that pieces cannot spell.
  var unknownID: Int32? { get }

  /// The prefix of pieces that continue a word, such as "##"; empty if there is none.
  var continuingPrefix: [UInt8] { get }

  /// The part of the pre-tokenizer before it that it takes over.
  var takesOver: TakenStep? { get }

  /// Makes a worker that tokenizes one text at a time.
  func makeWorker() throws(BertQAError) -> any TokenWorker

  /// Makes a scanner that performs BERT's steps and this model at once; nil if there is none.
  func makeScanner(_ table: NormalizationTable, lowercases: Bool) throws(BertQAError) -> WordPieceScanner?

  /// Prevents pieces that spell special tokens in texts whose special tokens are text. Called before the model is
  /// used.
  func keepAsText(_ tokens: [AddedToken])
}

extension TokenModel {
  var continuingPrefix: [UInt8] { [] }
  var takesOver: TakenStep? { nil }
  func makeScanner(_ table: NormalizationTable, lowercases: Bool) -> WordPieceScanner? { nil }
  func keepAsText(_ tokens: [AddedToken]) {}
}

/// A change of the text that some models make unnecessary; some pre-tokenizers can leave it to them.
enum TakenStep: Sendable {
  /// Spelling bytes in `ByteAlphabet`: the model reads bytes.
  case spelling
  /// Writing marks before pre-tokens: the model reads `PreTokens.mark`.
  case marking
}

/// A model with the memory that it needs for one text at a time.
protocol TokenWorker: AnyObject {
  /// Appends the tokens of the pre-tokens, in order, to `output`, with ranges in their text.
  func tokenize(_ preTokens: borrowing PreTokens, into output: inout TokenOutput) throws(BertQAError)
}

extension Pipeline {
  /// Reads a model.
  /// - Parameter spelled: true if pre-tokens are bytes spelled in `ByteAlphabet`.
  static func model(
    _ model: ObjectReader, spelled: Bool, _ monitor: CallMonitor?
  ) throws(BertQAError) -> any TokenModel {
    // Old files lack the type.
    let type = try model.string("type") ?? assumedType(model)
    switch type {
    case "BPE": return try BytePairModel(model, spelled: spelled, monitor)
    case "Unigram": return try UnigramModel(model, monitor)
    case "WordLevel": return try WordLevelModel(model, monitor)
    case "WordPiece": return try WordPieceModel(model, monitor)
    default:
      throw unsupported(model, "the model", type, supported: ["BPE", "Unigram", "WordLevel", "WordPiece"])
    }
  }

  private static func assumedType(_ model: ObjectReader) -> String {
    if case .array? = model.value("vocab") { return "Unigram" }
    return model.value("merges") != nil ? "BPE" : "WordPiece"
  }

  /// Returns the pieces of a model by id.
  static func pieces(of model: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) -> [[UInt8]] {
    try pieces(model.required("vocab", model.reader), monitor)
  }

  /// Returns the pieces by id, from an object of pieces and their ids; ids without a piece are empty.
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

  /// The number of pieces or merges that are read between two polls of the monitor.
  static let checkInterval = 4096

  /// Returns the id that a value of a file holds; nil if it is not an id.
  static func tokenID(_ value: JSON) -> Int32? {
    guard case .number(let number) = value, let integer = number.integer,
      0...Int64(Vocabulary.maximumID) ~= integer
    else { return nil }
    return Int32(integer)
  }
}
