/// A recurrent model's memory of a sequence. Immutable: a step makes a new one, so a state can be kept,
/// branched from and used by any number of threads. It may outlive its context.
public final class SequenceState: @unchecked Sendable {
  // Sendable: nothing changes after the step that made it.

  /// The number of floats.
  public let count: Int
  /// The model's fingerprint; see `SequenceModel.fingerprint`.
  let fingerprint: UInt64
  private let memory: AlignedBuffer<Float>

  /// Makes a state to be filled in.
  init(count: Int, fingerprint: UInt64) throws(BertQAError) {
    self.count = count
    self.fingerprint = fingerprint
    memory = try AlignedBuffer(uninitializedCount: count)
  }

  /// Writable only until the state is finished. Valid while this object lives.
  var base: UnsafeMutablePointer<Float> { memory.base }

  /// h [hidden] for each layer; then, for LSTM, c [hidden] for each layer.
  public var values: [Float] {
    defer { withExtendedLifetime(self) {} }
    return Array(UnsafeBufferPointer(start: UnsafePointer(base), count: count))
  }
}
