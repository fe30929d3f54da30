/// What normalisation makes of one code point: a kind and, for most kinds, its bytes.
///
/// Bits 0 ..< 32 hold the UTF-8 bytes of the result, the first lowest (for `.sequence`, an index);
/// bits 32 ..< 35 their count (for `.sequence`, the number of characters); bits 40 ..< 44 the kind.
struct NormalizedScalar: Equatable, Sendable, BitwiseCopyable {
  enum Kind: UInt64 {
    /// A character of a word.
    case word = 0
    /// The code point itself, as a character of a word: in pages that code points share.
    case itself
    /// A character that is a word by itself.
    case isolated
    /// The code point itself, as a word by itself: in pages that code points share.
    case isolatedItself
    /// Separates words.
    case space
    /// Nothing.
    case removed
    /// Several characters of a word, in the table's list of sequences.
    case sequence
    /// A Hangul syllable to be decomposed.
    case hangul
    /// Its decomposition keeps a character of non-zero combining class: order must be looked into.
    case reordered
  }

  var rawValue: UInt64

  init(_ kind: Kind, payload: UInt32 = 0, count: Int = 0) {
    rawValue = kind.rawValue << 40 | UInt64(count) << 32 | UInt64(payload)
  }

  init(_ kind: Kind, scalar: UInt32) {
    let (bytes, count) = UTF8Codec.encode(scalar)
    self.init(kind, payload: bytes, count: count)
  }

  /// The same with the code point written out, where the kind means the code point itself.
  func resolved(as scalar: UInt32) -> NormalizedScalar {
    switch Kind(rawValue: kind) {
    case .itself: NormalizedScalar(.word, scalar: scalar)
    case .isolatedItself: NormalizedScalar(.isolated, scalar: scalar)
    default: self
    }
  }

  @inline(__always) var kind: UInt64 { rawValue &>> 40 }
  @inline(__always) var payload: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
  @inline(__always) var count: Int { Int(truncatingIfNeeded: rawValue &>> 32 & 7) }
}
