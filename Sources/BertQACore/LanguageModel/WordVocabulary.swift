/// The words, or characters, of a recurrent language model, and how text becomes them.
struct WordVocabulary: Sendable {
  let vocabulary: Vocabulary
  let units: SequenceConfiguration.Units
  /// What words outside the vocabulary are read as; nil where the model has no such word.
  let unknownID: Int32?
  /// Ends a sequence; nil where the model has no such word.
  let endID: Int32?

  init(
    _ configuration: SequenceConfiguration, file: ModelFile, _ monitor: CallMonitor?
  ) throws(BertQAError) {
    units = configuration.units
    do {
      vocabulary = try file.withBytes { bytes throws(BertQAError) in
        try configuration.units == .words
          ? Vocabulary(vocabularyFile: bytes, monitor)
          : Vocabulary(pieces: Self.characters(in: bytes, atMost: configuration.vocabularySize), monitor)
      }
    } catch {
      throw BertQAError(error.status, "\(file.path): \(error.message)")
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

  /// The id of a special word: of the one `config.json` names, else of the usual one if it is there.
  private static func id(
    of token: String?, _ key: String, _ usual: String, _ vocabulary: Vocabulary, _ path: String
  ) throws(BertQAError) -> Int32? {
    guard let token else { return vocabulary.id(of: usual) }
    guard let id = vocabulary.id(of: token) else {
      throw BertQAError(
        .invalidModel, "\(path): \"\(key)\" in config.json is \(quoted(token)), which no line is")
    }
    return id
  }

  /// The lines of a vocabulary of characters, where white space counts: `\n`, `\r` and `\t` are escapes of these
  /// characters; one CR before an LF belongs to the line's end.
  /// - Parameter limit: the lines that `config.json` promises; of a file with more, one more is given.
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

  /// The text between two words.
  var separator: String { units == .words ? " " : "" }

  /// The id to read for a word of a text or of the caller. The typographic apostrophe counts as `'`.
  func id(
    reading word: UnsafeBufferPointer<UInt8>
  ) throws(BertQAError) -> (id: Int32, isUnknown: Bool) {
    if let id = vocabulary.id(of: word) ?? idWithStraightApostrophes(word) { return (id, false) }
    guard let unknownID else {
      throw BertQAError(
        .invalidArgument,
        "\(quoted(String(decoding: word, as: UTF8.self))) is not in the vocabulary, and the model has no "
          + "word for unknown ones")
    }
    return (unknownID, true)
  }

  private func idWithStraightApostrophes(_ word: UnsafeBufferPointer<UInt8>) -> Int32? {
    guard units == .words, word.contains(0xE2) else { return nil }
    let straight = String(decoding: word, as: UTF8.self).unicodeScalars.map { $0 == "\u{2019}" ? "'" : $0 }
    var text = String(String.UnicodeScalarView(straight))
    return text.withUTF8 { vocabulary.id(of: $0) }
  }
}
