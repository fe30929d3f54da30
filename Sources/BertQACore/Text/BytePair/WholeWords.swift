/// Words of at most 15 bytes that are one piece, by their bytes: most words of a text. Shared by all threads, where a
/// `WordCache` is one thread's.
final class WholeWords: @unchecked Sendable {
  // Unchecked: written while the model is made only.

  private let memory: ShortPieceTable.Memory
  let table: ShortPieceTable

  init(slotsFor count: Int) throws(BertQAError) {
    var slotCount = 1024
    while slotCount < count * 2 { slotCount *= 2 }
    memory = try ShortPieceTable.Memory(slotCount: slotCount)
    var table = ShortPieceTable(memory, slotCount: slotCount)
    table.removeAll(
      multiplier: PieceKey(
        low: SplitMix64.mixed(2 &* SplitMix64.increment) | 1,
        high: SplitMix64.mixed(3 &* SplitMix64.increment) | 1))
    self.table = table
  }

  /// - Parameter word: neither empty nor longer, and 16 readable bytes behind it.
  func insert(_ word: UnsafePointer<UInt8>, count: Int, id: Int32) throws(BertQAError) {
    if table.insert(PieceKey(loading: word).prefix(count, continuation: 0), id: id) { return }
    throw BertQAError(
      .invalidModel, "vocabulary: the pieces collide on purpose; check where the file came from")
  }
}
