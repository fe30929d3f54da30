import Glibc

/// An incremental hash of bytes, independent of how they are split. It detects accidental changes and edits;
/// it does not resist attackers. It processes several gigabytes a second.
struct ContentHash {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  /// The bytes after the last complete 64-bit word, lowest first.
  private var rest: UInt64 = 0
  private var count: UInt64 = 0

  init() {}

  /// Hashes the first `count` bytes of a file.
  init(of descriptor: Int32, _ shown: String, upTo count: Int) throws(ToolError) {
    try update(from: descriptor, shown, 0..<count)
  }

  var value: UInt64 { Self.mix(Self.mix(state, rest ^ 0xE703_7ED1_A0B4_28DB), count ^ 0x8EBC_6AF0_9C88_C6E3) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    while count & 7 != 0, position < bytes.count {
      add(bytes[position])
      position += 1
    }
    while position + 8 <= bytes.count {
      state = Self.mix(state, bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self).littleEndian)
      position += 8
      count &+= 8
    }
    while position < bytes.count {
      add(bytes[position])
      position += 1
    }
  }

  mutating func update(_ text: String) {
    var text = text
    text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
  }

  /// Adds a range of a file's bytes. Bytes beyond the end of the file add nothing.
  mutating func update(from descriptor: Int32, _ shown: String, _ range: Range<Int>) throws(ToolError) {
    let size = 1 << 16
    var offset = range.lowerBound
    var number: Int32 = 0
    withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
      while offset < range.upperBound {
        let read = pread(descriptor, buffer.baseAddress, min(size, range.upperBound - offset), off_t(offset))
        if read < 0, errno == EINTR { continue }
        if read < 0 { number = errno }
        guard read > 0 else { return }
        update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer).prefix(read)))
        offset += read
      }
    }
    if number != 0 { throw Input.error(shown, number) }
  }

  private mutating func add(_ byte: UInt8) {
    rest |= UInt64(byte) << (8 * (count & 7))
    count &+= 1
    guard count & 7 == 0 else { return }
    state = Self.mix(state, rest)
    rest = 0
  }

  /// Combines both halves of the product, so that every bit of the result depends on every bit of both
  /// inputs.
  private static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = (first ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: second ^ 0xE703_7ED1_A0B4_28DB)
    return product.high ^ product.low ^ first.rotated
  }
}

extension UInt64 {
  /// Rotation keeps earlier state alive when a product is 0.
  fileprivate var rotated: UInt64 { self << 23 | self >> 41 }
}
