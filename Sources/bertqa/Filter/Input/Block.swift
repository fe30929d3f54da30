/// A stretch of the input in memory and the records that end in it. The reading thread fills it and hands it
/// over to the one that answers.
final class Block: @unchecked Sendable {  // has one owner at a time
  let input = ByteBuffer()
  /// Texts that are not in the input as they are: their escapes are undone here.
  let decoded = ByteBuffer()
  var records: [FilterRecord] = []
  /// The texts of all records; those of one are neighbours.
  var fields: [FieldText] = []

  func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: input.bytes[range])
  }

  /// Valid while the block lives.
  func text(_ field: FieldText) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: (field.isDecoded ? decoded : input).bytes[field.range])
  }
}
