/// What a recurrent model remembers of a sequence. Immutable: a step makes a new one, so a state may be kept,
/// branched from and used by any number of threads. It outlives the context it came from.
public final class SequenceState: @unchecked Sendable {
  // Sendable: nothing changes once the step that made it is over.

  /// Floats.
  public let count: Int
  /// The model's; see `SequenceModel.fingerprint`.
  let fingerprint: UInt64
  private let memory: AlignedBuffer<Float>

  /// A state to be filled by its maker.
  init(count: Int, fingerprint: UInt64) throws(BertQAError) {
    self.count = count
    self.fingerprint = fingerprint
    memory = try AlignedBuffer(uninitializedCount: count)
  }

  /// For the maker, and for reading while the object lives.
  var base: UnsafeMutablePointer<Float> { memory.base }

  /// For each layer h [hidden], and with LSTM then for each layer c [hidden].
  public var values: [Float] {
    defer { withExtendedLifetime(self) {} }
    return Array(UnsafeBufferPointer(start: UnsafePointer(base), count: count))
  }
}
