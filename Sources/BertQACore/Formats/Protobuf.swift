/// A reader of the protocol buffers wire format: the fields of one message in order. Rejects groups, which no
/// supported file uses.
struct ProtobufReader {
  /// A field's value.
  enum Value {
    case integer(UInt64)
    case fixed64(UInt64)
    case fixed32(UInt32)
    /// A string, bytes or a message: a range of the file.
    case bytes(UnsafeRawBufferPointer)
  }

  struct Field {
    var number: Int
    var value: Value
  }

  private let bytes: UnsafeRawBufferPointer
  /// The name of the file and the message in errors.
  private let name: String
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer, name: String) {
    self.bytes = bytes
    self.name = name
  }

  /// Returns the next field; nil at the end.
  mutating func next() throws(BertQAError) -> Field? {
    guard position < bytes.count else { return nil }
    let begin = position
    let key = try integer()
    guard let number = Int(exactly: key >> 3), 1...0x1FFF_FFFF ~= number else {
      throw error("field number \(key >> 3), expected 1 to 536870911", at: begin)
    }
    switch key & 7 {
    case 0: return Field(number: number, value: .integer(try integer()))
    case 1:
      let value = try take(8).loadUnaligned(as: UInt64.self)
      return Field(number: number, value: .fixed64(UInt64(littleEndian: value)))
    case 2:
      let length = try integer()
      guard length <= UInt64(bytes.count - position) else {
        throw error(
          "field \(number) has \(length) bytes, but only \(bytes.count - position) are left", at: begin)
      }
      return Field(number: number, value: .bytes(try take(Int(length))))
    case 5:
      let value = try take(4).loadUnaligned(as: UInt32.self)
      return Field(number: number, value: .fixed32(UInt32(littleEndian: value)))
    default: throw error("wire type \(key & 7), expected 0, 1, 2 or 5", at: begin)
    }
  }

  private mutating func integer() throws(BertQAError) -> UInt64 {
    let begin = position
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard position < bytes.count else { throw error("unterminated number", at: begin) }
      let byte = bytes[position]
      position += 1
      // Drops bits above the 64th, as other readers do.
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw error("a number of more than ten bytes", at: begin)
  }

  private mutating func take(_ count: Int) throws(BertQAError) -> UnsafeRawBufferPointer {
    guard count <= bytes.count - position else {
      throw error("expected \(count) bytes, but only \(bytes.count - position) are left", at: position)
    }
    defer { position += count }
    return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
  }

  private func error(_ what: String, at offset: Int) -> BertQAError {
    BertQAError(.invalidModel, "\(name): malformed at byte \(offset): \(what)")
  }
}
