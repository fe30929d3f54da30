/// A part of the text prepared eight bytes at a time: lower-cased, and with a bit for each byte that is not an ASCII
/// letter or digit. Finding the next pre-token takes a shift and a count of zeros, which keeps the chain from one to
/// the next short.
struct ASCIIWindow {
  static var capacity: Int { 1024 }
  /// The number of readable bytes after the prepared ones, without letters and digits.
  static var padding: Int { 32 }
  /// The size of the scratch memory.
  static var scratchSize: Int { capacity + padding + (capacity + padding) / 8 + 8 }

  /// The bytes, with letters lower-cased if the tokenizer ignores case.
  let bytes: UnsafeMutablePointer<UInt8>
  /// Bit i % 8 of element i / 8 is set if byte i is not a letter or digit.
  private let breaks: UnsafeMutablePointer<UInt8>
  /// The range of the text.
  private(set) var begin = 0
  private(set) var end = 0

  init(scratch: UnsafeMutablePointer<UInt8>) {
    bytes = scratch
    breaks = scratch + Self.capacity + Self.padding
  }

  /// Returns the number of letters and digits from offset `offset` of the window on; 32 or more means at least 32.
  @inline(__always)
  func wordCount(at offset: Int) -> Int {
    let bits = UnsafeRawPointer(breaks + offset &>> 3).loadUnaligned(as: UInt64.self)
    return (UInt64(littleEndian: bits) &>> UInt64(truncatingIfNeeded: offset & 7))
      .trailingZeroBitCount
  }

  /// Prepares the text from `begin` on, at most up to `limit`.
  @inline(never)
  mutating func prepare(
    _ text: UnsafePointer<UInt8>, from begin: Int, limit: Int, lowercaseBit: UInt64
  ) {
    let count = min(Self.capacity, limit - begin)
    self.begin = begin
    end = begin + count
    let source = UnsafeRawPointer(text + begin)
    let target = UnsafeMutableRawPointer(bytes)
    let whole = count & ~7
    for offset in stride(from: 0, to: whole, by: 8) {
      let block = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      store(UInt64(littleEndian: block), at: offset, in: target, lowercaseBit)
    }
    var tail: UInt64 = 0
    for offset in whole..<count {
      tail |= UInt64(text[begin + offset]) << UInt64((offset - whole) * 8)
    }
    store(tail, at: whole, in: target, lowercaseBit)
    for offset in stride(from: whole + 8, to: whole + Self.padding, by: 8) {
      store(0, at: offset, in: target, lowercaseBit)
    }
  }

  /// Stores eight bytes and their breaks.
  @inline(__always)
  private func store(
    _ block: UInt64, at offset: Int, in target: UnsafeMutableRawPointer, _ lowercaseBit: UInt64
  ) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops = ones &* 0x80
    // Sums of seven bits carry into the top bit if the byte is at least the bound.
    let seven = block & ~tops
    let folded = seven | ones &* 0x20
    let isASCII = ~block & tops
    let letters =
      (folded &+ ones &* (0x80 - 0x61)) & ~(folded &+ ones &* (0x80 - 0x7B)) & isASCII
    let digits = (seven &+ ones &* (0x80 - 0x30)) & ~(seven &+ ones &* (0x80 - 0x3A)) & isASCII
    let lowered = block | letters &>> 2 & lowercaseBit
    target.storeBytes(of: lowered.littleEndian, toByteOffset: offset, as: UInt64.self)
    // The product gathers the eight top bits in its top byte.
    let flags = (~(letters | digits) & tops) &>> 7
    breaks[offset &>> 3] = UInt8(truncatingIfNeeded: (flags &* 0x0102_0408_1020_4080) &>> 56)
  }
}
