/// One answer: a range of the document. Its text is exactly the document's bytes from `bytes.start` up to
/// `bytes.end`.
///
/// Code points and UTF-16 units count as after decoding with replacement: each maximal invalid sequence of
/// bytes is one U+FFFD.
public struct Answer: Sendable, Equatable {
  public let bytes: TextRange
  public let codePoints: TextRange
  public let utf16: TextRange

  /// The sentence, or sentences, that contain the answer.
  public let sentence: TextRange
  public let sentenceCodePoints: TextRange
  public let sentenceUTF16: TextRange

  /// `startLogit` + `endLogit`: comparable over windows, documents and calls with one model.
  public let score: Float
  /// The chance that this answer is right, 0 to 1: of a model with a calibration, that the document has an answer
  /// times this one's share in a softmax over the document's spans; of others, its share in the softmax over all
  /// spans and the no-answer candidate. A higher score has the higher probability, and with
  /// `noAnswerProbability` all sum to 1 at most.
  public let probability: Float
  /// `score` less the document's null score.
  public let gap: Float

  public let startLogit: Float
  public let endLogit: Float

  /// The window, counted over the whole document, that gave the score.
  public let windowIndex: Int
}
