import CBertQA

extension Pipeline {
  /// Makes BERT's tokenizer of a vocabulary.
  /// - Parameter pieceCount: the number of ids with a piece; nil: all of them.
  init(
    bert configuration: TokenizerConfiguration, _ vocabulary: Vocabulary, pieceCount: Int? = nil,
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    func required(_ piece: String, _ name: String) throws(BertQAError) -> Int32 {
      if let id = vocabulary.id(of: piece) { return id }
      throw BertQAError(
        .invalidModel,
        "vocabulary: \(name) \(quoted(piece)) is not among its \(vocabulary.count) pieces; "
          + "set \(name) in tokenizer_config.json to the piece that serves as it")
    }
    guard vocabulary.count > 0 else { throw BertQAError(.invalidModel, "the vocabulary is empty") }
    let unknown = try required(configuration.unkToken, "unk_token")
    let sep = try required(configuration.sepToken, "sep_token")
    let cls = try required(configuration.clsToken, "cls_token")
    self.init(
      model: try WordPieceModel(
        vocabulary, pieceCount: pieceCount ?? vocabulary.count, unknown: unknown, monitor))
    normalizers = [try BertNormalizer(configuration)]
    preTokenizers = [BertPreTokenizer()]
    for token in configuration.specialTokens where vocabulary.id(of: token) != nil {
      addedTokens.append(AddedToken(token, isSpecial: true))
    }
    let separator = Array(repeating: sep, count: configuration.separatorCount)
    postProcessor = PostProcessor(
      Template(prefix: [cls], separator: separator, suffix: [sep]), trimming: [],
      tokenTypes: configuration.separatorCount == 1 ? .ofSegments : .zero)
    // Covers everything that determines the tokens, and not the files that it was read from.
    let settings = (configuration.switches + configuration.specialTokens).joined(separator: "\0")
    fingerprint = vocabulary.fingerprint
    cover(settings)
    if configuration.separatorCount != 1 { cover("\(configuration.separatorCount)") }
    if !configuration.cleansText { cover("uncleaned") }
  }

  /// Removes added tokens.
  mutating func removeTokens(_ contents: Set<[UInt8]>) {
    addedTokens.removeAll { contents.contains(Array($0.content.utf8)) }
    cover("without \(contents.count)")
  }

  /// Makes the fingerprint differ by a text.
  mutating func cover(_ text: String) {
    var text = text
    fingerprint = text.withUTF8 { bq_fingerprint($0.baseAddress, $0.count, fingerprint) }
  }

  /// Replaces BERT's normalizer by one with the settings that BERT's and MPNet's classes read from
  /// `tokenizer_config.json`.
  mutating func setNormalizer(
    _ step: ObjectReader?, _ settings: ObjectReader, setsChinese: Bool
  ) throws(BertQAError) {
    guard let step, try step.string("type") == "BertNormalizer" else { return }
    let own = try TokenizerConfiguration(normalizer: step)
    var configuration = try TokenizerConfiguration(settings)
    configuration.cleansText = own.cleansText
    if !setsChinese { configuration.tokenizeChineseCharacters = own.tokenizeChineseCharacters }
    normalizers = [try BertNormalizer(configuration)]
    cover(configuration.switches.joined() + (configuration.cleansText ? "" : "uncleaned"))
  }

  /// True if a `tokenizer.json` describes BERT's tokenizer: its normalizer, pre-tokenizer, model and template. BERT's
  /// classes read such a file with the settings of `tokenizer_config.json`.
  static func isBert(_ root: ObjectReader) throws(BertQAError) -> Bool {
    func type(_ key: String) throws(BertQAError) -> String? { try root.reader(key)?.string("type") }
    guard let model = try root.reader("model"), try model.string("type") ?? "WordPiece" == "WordPiece",
      model.value("merges") == nil, try type("normalizer") == "BertNormalizer",
      try type("pre_tokenizer") ?? "BertPreTokenizer" == "BertPreTokenizer"
    else { return false }
    let template = try root.reader("post_processor").map(PostProcessor.init)?.template ?? Template.none
    if template.isEmpty { return true }
    // The tokens that BERT's tokenizers use unless tokenizer_config.json names others.
    guard let vocabulary = try model.reader("vocab"),
      let cls = vocabulary.value("[CLS]").flatMap(Pipeline.tokenID),
      let sep = vocabulary.value("[SEP]").flatMap(Pipeline.tokenID)
    else { return false }
    return template == Template(prefix: [cls], separator: [sep], suffix: [sep])
  }
}
