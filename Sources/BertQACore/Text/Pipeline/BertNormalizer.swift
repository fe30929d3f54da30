/// BERT's normalisation as a step of a pipeline: cleaning, spaces around ideographs, accents, lower case.
struct BertNormalizer: Normalizer {
  private let configuration: TokenizerConfiguration
  private let table: NormalizationTable

  var lowercases: Bool { configuration.lowercase }

  init(_ step: ObjectReader) throws(BertQAError) {
    guard try step.bool("clean_text") ?? true else {
      throw BertQAError(.unsupported, "\(step.file): \"clean_text\" is false; only true is supported")
    }
    var configuration = TokenizerConfiguration()
    configuration.lowercase = try step.bool("lowercase") ?? true
    configuration.stripAccents = try step.bool("strip_accents")
    configuration.tokenizeChineseCharacters = try step.bool("handle_chinese_chars") ?? true
    self.configuration = configuration
    table = try NormalizationTable(configuration: configuration)
  }

  func normalize(
    _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let base = UnsafePointer(text.base)
    var position = 0
    var poll = TextPoll(monitor)
    while position < text.count {
      try poll.reach(position)
      let decoded = UTF8Codec.decode(base, at: position, end: text.count)
      let source = text.sources[position]
      let scalar = table.scalar(decoded.scalar)
      switch NormalizedScalar.Kind(rawValue: scalar.kind) {
      case .word: try target.append(scalar.payload, size: scalar.count, from: source)
      case .itself: try target.append(scalar: decoded.scalar, from: source)
      case .space: try target.append(0x20, size: 1, from: source)
      case .removed, nil: break
      case .isolated, .isolatedItself:
        // Punctuation is for a pre-tokenizer to isolate.
        let isSurrounded =
          configuration.tokenizeChineseCharacters
          && UnicodeData.shared.properties(of: decoded.scalar).isChinese
        if isSurrounded { try target.append(0x20, size: 1, from: source) }
        if scalar.kind == NormalizedScalar.Kind.isolated.rawValue {
          try target.append(scalar.payload, size: scalar.count, from: source)
        } else {
          try target.append(scalar: decoded.scalar, from: source)
        }
        if isSurrounded { try target.append(0x20, size: 1, from: source) }
      case .sequence:
        for index in 0..<scalar.count {
          let part = table.sequences[Int(scalar.payload) &+ index]
          try target.append(part.payload, size: part.count, from: source)
        }
      case .hangul:
        let syllable = decoded.scalar &- 0xAC00
        try target.append(scalar: 0x1100 &+ syllable / 588, from: source)
        try target.append(scalar: 0x1161 &+ syllable % 588 / 28, from: source)
        if syllable % 28 != 0 { try target.append(scalar: 0x11A7 &+ syllable % 28, from: source) }
      case .reordered:
        let run = try CombiningRun(base, within: 0..<text.count, around: position, monitor)
        for mark in run.marks {
          let first = text.sources[mark.start]
          let last = text.sources[mark.end - 1]
          try target.append(
            mark.utf8, size: mark.size, from: SourceRange(start: first.start, end: last.end))
        }
        position = run.end
        continue
      }
      position &+= decoded.size
    }
    try target.seal()
  }
}
