import Glibc

/// One word that may come next, or that was generated.
public struct PredictedWord: Sendable {
  /// In the vocabulary.
  public let id: Int32
  /// 0...1, of the model itself: over all words, whatever the options of a generation left out.
  public let probability: Float
  /// Its natural logarithm.
  public let logProbability: Float
  private let vocabulary: Vocabulary

  init(_ id: Int32, logProbability: Double, _ vocabulary: Vocabulary) {
    self.id = id
    self.logProbability = Float(logProbability)
    probability = Float(exp(logProbability))
    self.vocabulary = vocabulary
  }

  /// The word as the vocabulary spells it, with a NUL behind it. Valid while this value lives.
  public var bytes: UnsafeBufferPointer<UInt8> { vocabulary.piece(id) }

  public var text: String {
    defer { withExtendedLifetime(vocabulary) {} }
    return String(decoding: bytes, as: UTF8.self)
  }
}
