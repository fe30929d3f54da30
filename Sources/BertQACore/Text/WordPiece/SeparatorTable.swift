/// What a byte after an ASCII word does: the values of a table that are not ids.
enum SeparatorTable {
  /// Ends the word and is no token.
  static var space: Int32 { -1 }
  /// A control character: dropped, and the word goes on.
  static var dropped: Int32 { -2 }
  /// A letter or digit, or no ASCII.
  static var none: Int32 { -3 }

  /// The table, of 256 elements.
  static func make(
    table: NormalizationTable, pieces: PieceIndex, unkID: Int32
  ) throws(BertQAError) -> AlignedBuffer<Int32> {
    let separators = try AlignedBuffer(repeating: none, count: 256)
    for byte in 0..<128 {
      switch NormalizedScalar.Kind(rawValue: table.scalar(UInt32(byte)).kind) {
      case .space: separators[byte] = space
      case .removed: separators[byte] = dropped
      case .isolated:
        let id = pieces.short.id(of: PieceKey(low: UInt64(byte), high: 0).prefix(1, continuation: 0))
        separators[byte] = id >= 0 ? id : unkID
      default: break
      }
    }
    return separators
  }
}
