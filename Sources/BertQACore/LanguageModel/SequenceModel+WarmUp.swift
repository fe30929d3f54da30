import Synchronization

extension SequenceModel {
  /// Runs all of this code once per process; the caller holds fork() back: see `ForkGuard`. What it predicts
  /// is of no interest.
  func warmUp() {
    guard !Self.isWarm.load(ordering: .acquiring) else { return }
    var options = GenerateOptions()
    options.maxWords = 2
    options.temperature = 1
    options.topP = 0.5
    let word: StaticString = "a"
    let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    let ids = [Int32](repeating: 0, count: Self.chunkSequences)
    if let state = try? predict(bytes, state: nil, topK: 3).state {
      _ = try? generate(bytes, state: state, options: options)
      _ = try? rank([bytes, bytes], after: bytes, state: state, includesEnd: true)
      _ = ids.withUnsafeBufferPointer { try? step(ids: $0, states: ids.map { _ in state }) }
      _ = state.serialized.withUnsafeBytes { try? SequenceState($0, of: self).values }
    }
    Self.isWarm.store(true, ordering: .releasing)
  }

  private static let isWarm = Atomic<Bool>(false)
}
