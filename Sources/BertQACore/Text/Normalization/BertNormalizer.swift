/// BERT's normalisation as a step of a pipeline: cleaning, spaces around ideographs, accents, lower case.
struct BertNormalizer: Normalizer {
  private let cleansText: Bool
  private let isolatesChinese: Bool
  let lowercases: Bool
  private let table: NormalizationTable

  var characterTable: NormalizationTable? { table }

  init(_ configuration: TokenizerConfiguration) throws(BertQAError) {
    cleansText = configuration.cleansText
    lowercases = configuration.lowercase
    isolatesChinese = configuration.tokenizeChineseCharacters
    table = try NormalizationTable(configuration: configuration)
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let (base, sources, count) = (UnsafePointer(text.base), UnsafePointer(text.sources), text.count)
    var position = 0
    var poll = TextPoll(monitor)
    while position < count {
      try poll.reach(position)
      let source = sources[position]
      let (effect, next) = try table.normalize(base, at: position, within: 0..<count, monitor) {
        (utf8, size, start, end) throws(BertQAError) in
        let range = SourceRange(start: sources[start].start, end: sources[end &- 1].end)
        try target.append(utf8, size: size, from: range)
      }
      switch effect {
      case .continues: break
      case .space where cleansText: try target.append(0x20, size: 1, from: source)
      case .space:
        for index in position..<next { try target.append(UInt32(base[index]), size: 1, from: source) }
      case .isolated(let utf8, let size):
        // Only ideographs: a pre-tokenizer isolates punctuation.
        let scalar = UTF8Codec.decode(base, at: position, end: count).scalar
        let isSurrounded = isolatesChinese && UnicodeData.shared.properties(of: scalar).isChinese
        if isSurrounded { try target.append(0x20, size: 1, from: source) }
        try target.append(utf8, size: size, from: source)
        if isSurrounded { try target.append(0x20, size: 1, from: source) }
      }
      position = next
    }
    try target.seal()
  }
}
