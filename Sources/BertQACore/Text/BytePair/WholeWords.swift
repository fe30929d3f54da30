import CBertQA

/// Words by their bytes, and the one piece that each is.
final class WholeWords: @unchecked Sendable {
  // Unchecked: written while the model is made only.

  private let memory: ShortPieceTable.Memory
  /// Those of at most 15 bytes.
  let short: ShortPieceTable
  /// The others, by a hash that tells them apart.
  private var long: [UInt64: (bytes: [UInt8], id: Int32)] = [:]

  init(slotsFor count: Int) throws(BertQAError) {
    var slotCount = 1024
    while slotCount < count * 2 { slotCount *= 2 }
    memory = try ShortPieceTable.Memory(slotCount: slotCount)
    var table = ShortPieceTable(memory, slotCount: slotCount)
    table.removeAll(
      multiplier: PieceKey(
        low: SplitMix64.mixed(2 &* SplitMix64.increment) | 1,
        high: SplitMix64.mixed(3 &* SplitMix64.increment) | 1))
    short = table
  }

  /// - Parameter word: not empty.
  func insert(_ word: [UInt8], id: Int32) throws(BertQAError) {
    let isInserted: Bool
    if word.count > PieceKey.maximumCount {
      let hash = word.withUnsafeBufferPointer { Self.hash($0) }
      isInserted = long.updateValue((word, id), forKey: hash) == nil
    } else {
      isInserted = (word + [UInt8](repeating: 0, count: 16)).withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return false }
        return short.insert(PieceKey(loading: base).prefix(word.count, continuation: 0), id: id)
      }
    }
    if isInserted { return }
    throw BertQAError(
      .invalidModel, "vocabulary: the pieces collide on purpose; check where the file came from")
  }

  /// The id of a word of more than 15 bytes, or -1.
  func longID(_ word: UnsafePointer<UInt8>, count: Int) -> Int32 {
    let bytes = UnsafeBufferPointer(start: word, count: count)
    guard let found = long[Self.hash(bytes)], found.bytes.elementsEqual(bytes) else { return -1 }
    return found.id
  }

  private static func hash(_ word: UnsafeBufferPointer<UInt8>) -> UInt64 {
    bq_fingerprint(word.baseAddress, word.count, 0)
  }
}
