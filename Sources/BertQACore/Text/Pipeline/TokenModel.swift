/// Cuts words into pieces of a vocabulary: what tokenizers calls a model.
///
/// A new one is a conformance in a folder of its own beside `Pipeline/` and a case in `Pipeline.model`.
protocol TokenModel: Sendable {
  /// Its pieces as they are spelled. Ids that no piece has are spelled empty.
  var vocabulary: Vocabulary { get }

  /// How many of its ids are pieces: added tokens that are none get ids from there on.
  var pieceCount: Int { get }

  /// Appends the tokens of the words, in order, to `output`, with ranges in their text.
  func tokenize(_ words: borrowing Words, into output: inout TokenOutput) throws(BertQAError)

  /// The id of what cannot be spelled with pieces.
  var unknownID: Int32? { get }

  /// How its pieces show where a word begins, unless a pre-tokenizer decides it.
  var wordMark: WordMark? { get }
}
