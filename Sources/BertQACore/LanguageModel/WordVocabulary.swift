/// The words or characters of a recurrent language model, and the conversion of text to them.
struct WordVocabulary: Sendable {
  let vocabulary: Vocabulary
  let units: SequenceConfiguration.Units
  /// The id that replaces words outside the vocabulary; nil if the model has none.
  let unknownID: Int32?
  /// The id that ends a sequence; nil if the model has none.
  let endID: Int32?

  init(
    _ configuration: SequenceConfiguration, file: ModelFile, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    units = configuration.units
    vocabulary = try BertQAError.naming(file.path) { () throws(BertQAError) in
      try file.withBytes { bytes throws(BertQAError) in
        try configuration.units == .words
          ? Vocabulary(vocabularyFile: bytes, monitor)
          : Vocabulary(pieces: Self.characters(in: bytes, atMost: configuration.vocabularySize), monitor)
      }
    }
    guard vocabulary.count == configuration.vocabularySize else {
      throw BertQAError(
        .invalidModel,
        "\(file.path): \(vocabulary.count) lines, but \"vocab_size\" in config.json is "
          + "\(configuration.vocabularySize)")
    }
    unknownID = try Self.id(of: configuration.unknownToken, "unk_token", "<unk>", vocabulary, file.path)
    endID = try Self.id(of: configuration.endToken, "eos_token", "</s>", vocabulary, file.path)
  }

  /// Returns the id of a special word: the one that `config.json` names, else the usual one if it exists.
  private static func id(
    of token: String?, _ key: String, _ usual: String, _ vocabulary: Vocabulary, _ path: String
  ) throws(BertQAError) -> Int32? {
    guard let token else { return vocabulary.id(of: usual) }
    guard let id = vocabulary.id(of: token) else {
      throw BertQAError(
        .invalidModel, "\(path): \"\(key)\" in config.json is \(quoted(token)), but no line has this word")
    }
    return id
  }

  /// Reads the lines of a vocabulary of characters. White space counts; `\n`, `\r` and `\t` are escapes of
  /// these characters. One CR before an LF belongs to the end of the line.
  /// - Parameter limit: the number of lines that `config.json` promises. If the file has more, returns one
  ///   more.
  private static func characters(
    in file: UnsafeBufferPointer<UInt8>, atMost limit: Int
  ) throws(BertQAError) -> [[UInt8]] {
    try Vocabulary.check(byteCount: file.count, pieceCount: limit)
    var lines = file.split(
      separator: 0x0A, maxSplits: limit + 1, omittingEmptySubsequences: false
    ).prefix(limit + 1).map(Array.init)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      let line = line.count > 1 && line.last == 0x0D ? Array(line.dropLast()) : line
      switch line {
      case Array("\\n".utf8): return [0x0A]
      case Array("\\r".utf8): return [0x0D]
      case Array("\\t".utf8): return [0x09]
      default: return line
      }
    }
  }

  /// The separator between two words.
  var separator: String { units == .words ? " " : "" }

  /// Returns the id to read for a word of a text or of the caller. The typographic apostrophe counts as `'`.
  func id(
    reading word: UnsafeBufferPointer<UInt8>
  ) throws(BertQAError) -> (id: Int32, isUnknown: Bool) {
    if let id = vocabulary.id(of: word) { return (id, false) }
    if let id = try idWithStraightApostrophes(word) { return (id, false) }
    guard let unknownID else {
      throw BertQAError(
        .invalidArgument,
        "\(quoted(String(decoding: word.prefix(512), as: UTF8.self))) is not in the vocabulary, and the model has no "
          + "token for unknown words")
    }
    return (unknownID, true)
  }

  private func idWithStraightApostrophes(
    _ word: UnsafeBufferPointer<UInt8>
  ) throws(BertQAError) -> Int32? {
    guard units == .words, word.contains(0xE2) else { return nil }
    var straight = try [UInt8](checkedCapacity: word.count)
    var rest = word[...]
    while let byte = rest.first {
      let isTypographic = rest.starts(with: "\u{2019}".utf8)
      straight.append(isTypographic ? UInt8(ascii: "'") : byte)
      rest = rest.dropFirst(isTypographic ? 3 : 1)
    }
    return straight.withUnsafeBufferPointer { vocabulary.id(of: $0) }
  }
}
