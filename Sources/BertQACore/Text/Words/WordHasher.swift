/// Hashes of words and of pairs of them.
///
/// Seeded at random, so that nobody can choose words that collide; results do not depend on the seed.
struct WordHasher: Sendable {
  private let seed: UInt64

  init() {
    var generator = SystemRandomNumberGenerator()
    seed = generator.next()
  }

  /// - Parameter word: `count` bytes, after which eight more may be read.
  @inline(__always)
  func hash(_ word: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
    if count <= 8 { return hash(short: Self.lastBytes(word, count)) }
    let raw = UnsafeRawPointer(word)
    var hash = seed ^ UInt64(truncatingIfNeeded: count)
    var offset = 0
    while count &- offset > 8 {
      hash = Self.mixed(hash ^ raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset &+= 8
    }
    return Self.mixed(hash ^ Self.lastBytes(raw + offset, count &- offset))
  }

  /// Returns the hash of a word by its `lastBytes`, which differ for different words because words have no NUL.
  @inline(__always)
  func hash(short bytes: UInt64) -> UInt64 { Self.mixed(bytes ^ seed) }

  /// Returns the hash of a pair from those of its words.
  @inline(__always)
  func hash(_ first: UInt64, _ second: UInt64) -> UInt64 {
    Self.mixed(first ^ (second &>> 29 | second &<< 35))
  }

  /// One multiplication, where SplitMix64's finaliser takes two: words are hashed in the innermost loop.
  @inline(__always)
  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = (value ^ SplitMix64.increment).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
    return product.high ^ product.low
  }

  /// Returns up to eight bytes and drops the others.
  @inline(__always)
  static func lastBytes(_ raw: UnsafeRawPointer, _ count: Int) -> UInt64 {
    guard count > 0 else { return 0 }
    let block = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
    return block &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
  }
}
