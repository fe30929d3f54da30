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
