/// The normalisation of every code point under one configuration: cleaning, isolation of ideographs and punctuation,
/// decomposition, removal of accents and lower-casing, in the reference's order.
///
/// Only the canonical order of combining characters that stay depends on neighbours; it is computed where they occur
/// (`.reordered`).
final class NormalizationTable: @unchecked Sendable {
  // Unchecked: the memory is written in init only.

  /// Index of the page in `scalars` for each `code point >> 8`.
  private let pages: AlignedBuffer<UInt16>
  /// Pages of 256; page 0 begins with ASCII.
  private let scalars: AlignedBuffer<NormalizedScalar>
  /// The characters of `.sequence` entries, each of kind `.plain`.
  private let sequences: AlignedBuffer<NormalizedScalar>

  init(configuration: TokenizerConfiguration) throws(BertQAError) {
    var builder = Builder(configuration: configuration)
    builder.build()
    pages = try AlignedBuffer(copying: builder.pages)
    scalars = try AlignedBuffer(copying: builder.scalars)
    sequences = try AlignedBuffer(copying: builder.sequences)
  }

  @inline(__always)
  func scalar(_ scalar: UInt32) -> NormalizedScalar {
    scalars[Int(pages[Int(scalar &>> 8)]) &<< 8 | Int(scalar & 0xFF)]
  }
}

extension NormalizationTable {
  /// The effect of a character on the pre-token before it.
  enum Effect {
    /// It belongs to the pre-token, or is dropped.
    case continues
    /// It is white space.
    case space
    /// It is a pre-token by itself: its bytes, the first lowest, and their number.
    case isolated(utf8: UInt32, size: Int)
  }

  /// Normalises the character at a position, or the run of characters whose order it affects.
  ///
  /// Returns its effect and the beginning of the next character.
  /// - Parameters:
  ///   - range: the part of the text that is looked at.
  ///   - append: takes each character of a pre-token: its bytes, their number, and its range in the text.
  @inline(__always)
  func normalize(
    _ text: UnsafePointer<UInt8>, at position: Int, within range: Range<Int>, _ monitor: CallMonitor?,
    append: (_ utf8: UInt32, _ size: Int, _ start: Int, _ end: Int) throws(BertQAError) -> Void
  ) throws(BertQAError) -> (effect: Effect, next: Int) {
    let decoded = UTF8Codec.decode(text, at: position, end: range.upperBound)
    let next = position &+ decoded.size
    let scalar = scalar(decoded.scalar)
    if scalar.kind == NormalizedScalar.Kind.plain.rawValue {
      try append(scalar.payload, scalar.count, position, next)
      return (.continues, next)
    }
    switch NormalizedScalar.Kind(rawValue: scalar.kind) {
    case .itself:
      try append(Self.bytes(text, at: position, size: decoded.size), decoded.size, position, next)
    case .removed, .plain, nil: break
    case .space: return (.space, next)
    case .isolated: return (.isolated(utf8: scalar.payload, size: scalar.count), next)
    case .isolatedItself:
      let bytes = Self.bytes(text, at: position, size: decoded.size)
      return (.isolated(utf8: bytes, size: decoded.size), next)
    case .sequence:
      for index in 0..<scalar.count {
        let part = sequences[Int(scalar.payload) &+ index]
        try append(part.payload, part.count, position, next)
      }
    case .hangul:
      let (lead, vowel, tail) = UnicodeData.jamo(of: decoded.scalar)
      try append(Self.bytes(jamo: lead), 3, position, next)
      try append(Self.bytes(jamo: vowel), 3, position, next)
      if let tail { try append(Self.bytes(jamo: tail), 3, position, next) }
    case .reordered:
      let run = try CombiningRun(text, within: range, around: position, monitor)
      for mark in run.marks { try append(mark.utf8, mark.size, mark.start, mark.end) }
      return (.continues, run.end)
    }
    return (.continues, next)
  }

  /// Returns the `size` ≤ 4 bytes at a position of the text, the first lowest.
  @inline(__always)
  private static func bytes(_ text: UnsafePointer<UInt8>, at position: Int, size: Int) -> UInt32 {
    var bytes = UInt32(text[position])
    if size > 1 { bytes |= UInt32(text[position &+ 1]) &<< 8 }
    if size > 2 { bytes |= UInt32(text[position &+ 2]) &<< 16 }
    if size > 3 { bytes |= UInt32(text[position &+ 3]) &<< 24 }
    return bytes
  }

  /// Returns the three bytes of a conjoining jamo.
  @inline(__always)
  private static func bytes(jamo scalar: UInt32) -> UInt32 {
    0xE1 | (0x80 | scalar >> 6 & 0x3F) << 8 | (0x80 | scalar & 0x3F) << 16
  }
}

extension NormalizationTable {
  private struct Builder {
    let cleansText: Bool
    let lowercase: Bool
    let stripsAccents: Bool
    let isolatesChinese: Bool
    let data = UnicodeData.shared
    var pages: [UInt16] = []
    var scalars: [NormalizedScalar] = []
    var sequences: [NormalizedScalar] = []

    init(configuration: TokenizerConfiguration) {
      cleansText = configuration.cleansText
      lowercase = configuration.lowercase
      stripsAccents = configuration.stripsAccents
      isolatesChinese = configuration.tokenizeChineseCharacters
    }

    mutating func build() {
      pages.reserveCapacity(TwoStageTable<UInt16>.pageCount)
      scalars.reserveCapacity(256 * 256)
      var shared: [(scalar: NormalizedScalar, index: UInt16)] = []
      for page in 0..<TwoStageTable<UInt16>.pageCount {
        let first = UInt32(page << 8)
        let isUniform = data.isUniform(page: page)
        if isUniform {
          let value = normalize(first)
          if let known = shared.first(where: { $0.scalar == value }) {
            pages.append(known.index)
            continue
          }
          shared.append((value, UInt16(scalars.count >> 8)))
        }
        pages.append(UInt16(scalars.count >> 8))
        for scalar in first..<first + 256 {
          let value = normalize(scalar)
          scalars.append(isUniform ? value : value.resolved(as: scalar))
        }
      }
    }

    private mutating func normalize(_ scalar: UInt32) -> NormalizedScalar {
      let properties = data.properties(of: scalar)
      if cleansText, properties.isRemoved { return NormalizedScalar(.removed) }
      // Without cleaning, what pre-tokenizers split at.
      if cleansText ? properties.isWhitespace : CharacterClass.isWhiteSpace(scalar) {
        return NormalizedScalar(.space)
      }
      if stripsAccents {
        if UnicodeData.isHangulSyllable(scalar) { return NormalizedScalar(.hangul) }
        if keepsNonstarter(scalar) { return NormalizedScalar(.reordered) }
      }
      if stripsAccents, data.hasDecomposition(scalar) {
        var kept: [UInt32] = []
        data.forEachPart(of: scalar) { part in
          if !data.properties(of: part).isNonspacingMark { kept.append(lowercased(part)) }
        }
        return kept.count == 1 ? single(kept[0], for: scalar, properties) : sequence(kept)
      }
      if stripsAccents, properties.isNonspacingMark { return NormalizedScalar(.removed) }
      // The only character with two lower-case characters: i and a combining dot.
      if lowercase, scalar == 0x130 { return sequence([0x69, 0x307]) }
      return single(lowercased(scalar), for: scalar, properties)
    }

    private func lowercased(_ scalar: UInt32) -> UInt32 {
      lowercase ? data.lowercase(scalar) : scalar
    }

    private func single(
      _ result: UInt32, for scalar: UInt32, _ properties: UnicodeData.Properties
    ) -> NormalizedScalar {
      let isolated =
        properties.isChinese && isolatesChinese || data.properties(of: result).isPunctuation
      if result == scalar { return NormalizedScalar(isolated ? .isolatedItself : .itself) }
      return NormalizedScalar(isolated ? .isolated : .plain, scalar: result)
    }

    private func keepsNonstarter(_ scalar: UInt32) -> Bool {
      var found = false
      data.forEachPart(of: scalar) { part in
        let properties = data.properties(of: part)
        if properties.combiningClass != 0, !properties.isNonspacingMark { found = true }
      }
      return found
    }

    private mutating func sequence(_ parts: [UInt32]) -> NormalizedScalar {
      if parts.isEmpty { return NormalizedScalar(.removed) }
      let offset = sequences.count
      for part in parts { sequences.append(NormalizedScalar(.plain, scalar: part)) }
      return NormalizedScalar(.sequence, payload: UInt32(offset), count: parts.count)
    }
  }
}

/// The normalisation of one code point: a kind and, for most kinds, its bytes.
///
/// Bits 0 ..< 32 hold the UTF-8 bytes of the result, the first lowest (for `.sequence`, an index);
/// bits 32 ..< 35 their count (for `.sequence`, the number of characters); bits 40 ..< 44 the kind.
struct NormalizedScalar: Equatable, Sendable, BitwiseCopyable {
  enum Kind: UInt64 {
    /// A character of a pre-token.
    case plain = 0
    /// The code point itself, as a character of a pre-token: in pages that code points share.
    case itself
    /// A character that is a pre-token by itself.
    case isolated
    /// The code point itself, as a pre-token by itself: in pages that code points share.
    case isolatedItself
    /// Separates pre-tokens.
    case space
    /// Dropped.
    case removed
    /// Several characters of a pre-token, in the table's list of sequences.
    case sequence
    /// A Hangul syllable to be decomposed.
    case hangul
    /// Its decomposition keeps a character of non-zero combining class: the order of its neighbours matters.
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

  /// Returns the same with the code point written out, if the kind means the code point itself.
  func resolved(as scalar: UInt32) -> NormalizedScalar {
    switch Kind(rawValue: kind) {
    case .itself: NormalizedScalar(.plain, scalar: scalar)
    case .isolatedItself: NormalizedScalar(.isolated, scalar: scalar)
    default: self
    }
  }

  @inline(__always) var kind: UInt64 { rawValue &>> 40 }
  @inline(__always) var payload: UInt32 { UInt32(truncatingIfNeeded: rawValue) }
  @inline(__always) var count: Int { Int(truncatingIfNeeded: rawValue &>> 32 & 7) }
}
