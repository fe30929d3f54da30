/// Labels of tokens by an encoder and the head on it, made into entities. Immutable.
struct EntityRecognizer: Sendable {
  let reader: WindowReader
  /// By column of the head.
  let labels: [String]
}
