/// A part of the input in memory and the records that end in it. The reading thread fills it and passes it to
/// the thread that works on it.
final class Block: @unchecked Sendable {  // has one owner at a time
  /// The input that the block is a part of.
  let source: Input
  let input = ByteBuffer()
  /// The value of `Input.seen` when the block was filled.
  var seen = (size: 0, changed: 0)
  /// Texts that the input does not spell literally, with their escapes decoded.
  let decoded = ByteBuffer()
  var records: [Record] = []
  /// The texts of all records. The texts of one record are adjacent.
  var fields: [FieldText] = []

  init(_ source: Input) { self.source = source }

  /// The approximate memory use in bytes.
  var cost: Int {
    input.count + decoded.count + records.count * MemoryLayout<Record>.stride
      + fields.count * MemoryLayout<FieldText>.stride
  }

  func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: input.bytes[range])
  }

  /// Returns the text of a field. The memory is valid while the block lives.
  func text(_ field: FieldText) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: (field.isDecoded ? decoded : input).bytes[field.range])
  }

  /// Returns the first text of a record with the field that spells it. The memory is valid while the block
  /// lives.
  func spelled(_ record: Record, _ format: RecordFormat) -> SpelledText {
    let field = fields[record.firstField]
    return SpelledText(text: text(field), field: bytes(field.spelled), format: format)
  }
}
