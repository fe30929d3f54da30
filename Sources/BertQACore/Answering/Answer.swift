/// One answer: a range of a document. Its text is exactly the document's bytes from `bytes.start` up to
/// `bytes.end`.
///
/// Code points and UTF-16 units are counted after decoding with replacement: each maximal invalid sequence of bytes
/// is one U+FFFD.
public struct Answer: Sendable, Equatable {
  /// The document's position among those of the question.
  public let documentIndex: Int
  public let bytes: TextRange
  public let codePoints: TextRange
  public let utf16: TextRange

  /// The sentence, or sentences, that contain the answer.
  public let sentence: TextRange
  public let sentenceCodePoints: TextRange
  public let sentenceUTF16: TextRange

  /// `startLogit` + `endLogit`.
  public let score: Float
  /// The probability that this answer is right, 0 to 1. With a calibration of the model: the probability that an
  /// answer exists, times this answer's share in a softmax over all spans that were read. Otherwise: its share in the
  /// softmax over these spans and the no-answer candidate. A higher gap means a higher probability. All probabilities
  /// and `noAnswerProbability` sum to at most 1.
  public let probability: Float
  /// Compares answers of sections, documents and questions: `score` minus the null score of the same section, minus
  /// up to 3 for a section with fewer of the question's words than the best one. Raised for the best answer of
  /// several sections. With `documentStride`: `score` minus the lowest null score of all windows.
  public let gap: Float

  public let startLogit: Float
  public let endLogit: Float

  /// The position, among all windows of the document, of the window that gave the score.
  public let windowIndex: Int
}
