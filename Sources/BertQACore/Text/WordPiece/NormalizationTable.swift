/// The normalisation of every code point under one configuration: cleaning, isolation of ideographs
/// and punctuation, decomposition, stripping of accents and lower-casing, in the reference's order.
///
/// What depends on neighbours, the canonical order of combining characters that stay, is left to
/// `TokenScanner` (`.reordered`).
final class NormalizationTable: @unchecked Sendable {
  // Unchecked: the memory is written in init only.

  /// Index of the page in `scalars` for each `code point >> 8`.
  private let pages: AlignedBuffer<UInt16>
  /// Pages of 256; page 0 begins with ASCII.
  private let scalars: AlignedBuffer<NormalizedScalar>
  /// The characters of `.sequence` entries, each of kind `.word`.
  let sequences: AlignedBuffer<NormalizedScalar>

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
  private struct Builder {
    let lowercase: Bool
    let stripsAccents: Bool
    let isolatesChinese: Bool
    let data = UnicodeData.shared
    var pages: [UInt16] = []
    var scalars: [NormalizedScalar] = []
    var sequences: [NormalizedScalar] = []

    init(configuration: TokenizerConfiguration) {
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
      if properties.isRemoved { return NormalizedScalar(.removed) }
      if properties.isWhitespace { return NormalizedScalar(.space) }
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
      // The only character whose lower case is two: i and a combining dot.
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
      return NormalizedScalar(isolated ? .isolated : .word, scalar: result)
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
      for part in parts { sequences.append(NormalizedScalar(.word, scalar: part)) }
      return NormalizedScalar(.sequence, payload: UInt32(offset), count: parts.count)
    }
  }
}
