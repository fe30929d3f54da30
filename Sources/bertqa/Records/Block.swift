/// A stretch of the input in memory and the records that end in it. The reading thread fills it and hands it
/// over to the one that works on it.
final class Block: @unchecked Sendable {  // has one owner at a time
  /// What it is a stretch of.
  let source: Input
  let input = ByteBuffer()
  /// Texts that are not in the input as they are: their escapes are undone here.
  let decoded = ByteBuffer()
  var records: [Record] = []
  /// The texts of all records; those of one are neighbours.
  var fields: [FieldText] = []

  init(_ source: Input) { self.source = source }

  /// Memory that it holds, about.
  var cost: Int {
    input.count + decoded.count + records.count * MemoryLayout<Record>.stride
      + fields.count * MemoryLayout<FieldText>.stride
  }

  func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: input.bytes[range])
  }

  /// Valid while the block lives.
  func text(_ field: FieldText) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: (field.isDecoded ? decoded : input).bytes[field.range])
  }

  /// The first text of a record and its field. Valid while the block lives.
  func spelled(_ record: Record, _ format: RecordFormat) -> SpelledText {
    let field = fields[record.firstField]
    return SpelledText(text: text(field), field: bytes(field.spelled), format: format)
  }
}
