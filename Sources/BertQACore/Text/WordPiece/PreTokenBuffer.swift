/// The normalised characters of one pre-token, with their ranges in the text.
///
/// While every character has its original length and none was dropped (`isVerbatim`), ranges are not stored: byte i
/// of the pre-token is byte `begin + i` of the text.
struct PreTokenBuffer {
  /// Room for 100 characters of four bytes, a store beyond them and a load of 16 bytes.
  static var capacity: Int { PieceMatcher.maximumWordBytes + 32 }

  let bytes: UnsafeMutablePointer<UInt8>
  /// The beginning of a character in the text, at the index of its first byte.
  let starts: UnsafeMutablePointer<UInt32>
  /// The end of a character in the text, at the index of its last byte.
  let ends: UnsafeMutablePointer<UInt32>
  private(set) var count = 0
  private(set) var characterCount = 0
  private(set) var isVerbatim = true
  /// The range of the pre-token in the text.
  private(set) var begin = 0
  private(set) var end = 0

  /// Bytes of memory.
  static var memorySize: Int { capacity * 9 }

  /// - Parameter memory: `memorySize` bytes, aligned to 8, that last as long as the pre-token.
  init(_ memory: UnsafeMutablePointer<UInt8>) {
    let numbers = UnsafeMutableRawPointer(memory).bindMemory(to: UInt32.self, capacity: 2 * Self.capacity)
    starts = numbers
    ends = numbers + Self.capacity
    bytes = memory + 8 * Self.capacity
  }

  @inline(__always) var isEmpty: Bool { characterCount == 0 }
  /// True if it has too many characters to be split; then only its range is kept.
  @inline(__always) var isTooLong: Bool {
    characterCount > PieceMatcher.maximumWordCharacters
  }

  /// Appends a character of `size` bytes, in `utf8` the first lowest, from text[start ..< end].
  @inline(__always)
  mutating func append(_ utf8: UInt32, size: Int, start: Int, end: Int) {
    if characterCount == 0 { begin = start }
    self.end = end
    characterCount &+= 1
    if isTooLong { return }
    if isVerbatim, start &- begin != count || end &- start != size { storeOrigins() }
    UnsafeMutableRawPointer(bytes + count).storeBytes(of: utf8.littleEndian, as: UInt32.self)
    if !isVerbatim {
      starts[count] = UInt32(truncatingIfNeeded: start)
      ends[count &+ size &- 1] = UInt32(truncatingIfNeeded: end)
    }
    count &+= size
  }

  private mutating func storeOrigins() {
    isVerbatim = false
    for offset in 0..<count {
      starts[offset] = UInt32(truncatingIfNeeded: begin &+ offset)
      ends[offset] = UInt32(truncatingIfNeeded: begin &+ offset &+ 1)
    }
  }

  @inline(__always)
  mutating func removeAll() {
    count = 0
    characterCount = 0
    isVerbatim = true
  }
}
