/// One call's scratch memory. Its size depends on the model and the largest number of sequences stepped
/// together, at most `SequenceModel.chunkSequences`.
final class SequenceWorkspace: @unchecked Sendable {
  // Sendable: used by one call at a time.

  /// The layer's input; [sequence][inputs].
  private(set) var input = AlignedBuffer<Float>()
  /// The layer's h before the step; [sequence][hidden].
  private(set) var hidden = AlignedBuffer<Float>()
  /// The contributions of the input and of h to the gates; each is [sequence][gates][hidden].
  private(set) var inputGates = AlignedBuffer<Float>()
  private(set) var stateGates = AlignedBuffer<Float>()
  /// The state of each sequence before the step, which must not be written, and after it.
  private(set) var sources = AlignedBuffer<UnsafeMutablePointer<Float>>()
  private(set) var targets = AlignedBuffer<UnsafeMutablePointer<Float>>()
  /// The states of the text being read; [word][state].
  private(set) var states = AlignedBuffer<Float>()
  /// [word][vocabulary]
  private(set) var logits = AlignedBuffer<Float>()
  /// [vocabulary]
  private(set) var exponentials = AlignedBuffer<Float>()

  func reserve(sequences: Int, for configuration: SequenceConfiguration) throws(BertQAError) {
    let hiddenSize = configuration.hiddenSize
    let gates = configuration.cell.gateCount * hiddenSize
    try input.reserve(sequences * max(configuration.embeddingSize, hiddenSize))
    try hidden.reserve(sequences * hiddenSize)
    try inputGates.reserve(sequences * gates)
    try stateGates.reserve(sequences * gates)
    try sources.reserve(sequences)
    try targets.reserve(sequences)
  }

  func reserve(words: Int, of configuration: SequenceConfiguration) throws(BertQAError) {
    try states.reserve(words * configuration.stateLength)
    try logits.reserve(words * configuration.vocabularySize)
    try exponentials.reserve(configuration.vocabularySize)
  }
}
