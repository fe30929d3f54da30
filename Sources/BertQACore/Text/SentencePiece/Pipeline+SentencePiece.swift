extension Pipeline {
  /// Makes the tokenizer of a SentencePiece model, as `AutoTokenizer` of transformers 5.23 does without a
  /// `tokenizer.json`.
  init(
    _ source: SentencePieceModel, _ family: SentencePieceFamily, _ listed: TokenizerSettings, file: String,
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) {
    let settings = listed.reader
    try Self.refuseUnsupported(settings)
    var special: [String: AddedToken] = [:]
    for (key, token) in family.specialTokens { special[key] = try Self.token(settings, key) ?? token }
    func spelling(_ key: String) -> String { special[key]?.content ?? "" }

    var pieces = source.pieces
    var scores = source.scores
    var unkID = source.unkID
    func frame(_ first: [(String, Double)], dropping count: Int) {
      pieces = first.map { Array($0.0.utf8) } + pieces.dropFirst(count) + [Array(spelling("mask_token").utf8)]
      scores = first.map(\.1) + scores.dropFirst(count) + [0]
    }
    switch family {
    case .xlmRoberta:
      // fairseq's order, in which the first three pieces of the model have other ids.
      frame(["bos_token", "pad_token", "eos_token", "unk_token"].map { (spelling($0), 0) }, dropping: 3)
      unkID = 3
    case .camembert:
      frame(
        [
          ("<s>NOTUSED", 0), (spelling("pad_token"), 0), ("</s>NOTUSED", 0), (spelling("unk_token"), 0),
          ("<unk>NOTUSED", -100),
        ], dropping: 1)
      unkID = pieces.firstIndex { $0.elementsEqual(spelling("unk_token").utf8) } ?? 0
    case .albert: unkID = 1
    case .debertaV2:
      let unknown = Array(spelling("unk_token").utf8)
      unkID = pieces.indices.first { scores[$0] == 0 && pieces[$0] == unknown } ?? unkID
    }
    let vocabulary = try BertQAError.naming(file) { () throws(BertQAError) in
      try Vocabulary(pieces: pieces, monitor)
    }
    self.init(
      model: try UnigramModel(
        vocabulary, scores: scores, unkID: unkID, byteFallback: false, file: file, monitor))
    normalizers = try Self.normalizers(source, family, settings)
    preTokenizers = try Self.preTokenizers(family, settings)
    addedTokens = family.specialTokens.compactMap { special[$0.key] }
    // transformers gives these classes the model's own symbols, in whose presence it does not read the list of
    // special_tokens_map.json.
    addListed(listed, additional: listed.additional.isEmpty ? Self.symbols(source) : listed.additional)
    postProcessor = PostProcessor(
      try template(family, special, file: file, monitor), trimming: [],
      tokenTypes: family == .albert || family == .debertaV2 ? .ofSegments : .zero)
  }

  private static func refuseUnsupported(_ settings: ObjectReader) throws(BertQAError) {
    for key in ["add_bos_token", "add_eos_token"] where settings.value(key) != nil {
      throw BertQAError(
        .unsupported, "\(settings.file): \(quoted(key)) is not supported for a SentencePiece model")
    }
    if try settings.reader("sp_model_kwargs")?.bool("enable_sampling") == true {
      throw BertQAError(.unsupported, "\(settings.file): \"enable_sampling\" is not supported")
    }
  }

  private static func normalizers(
    _ source: SentencePieceModel, _ family: SentencePieceFamily, _ settings: ObjectReader
  ) throws(BertQAError) -> [any Normalizer] {
    var rules: [any Normalizer] = []
    if let map = source.characterMap { rules = [try CharacterMapNormalizer(map)] }
    switch family {
    case .xlmRoberta, .camembert: return rules
    case .albert:
      var steps: [any Normalizer] = []
      for quotes in ["``", "''"] {
        steps.append(Replacer(try ReplacementPattern(string: quotes), with: "\""))
      }
      if try settings.bool("keep_accents") != true { steps += [FormNormalizer(.nfkd), StripAccents()] }
      if try settings.bool("do_lower_case") != false { steps.append(Lowercase()) }
      return steps + rules
    case .debertaV2:
      // The model's own rules are not used.
      var steps: [any Normalizer] = []
      if try settings.bool("do_lower_case") == true { steps.append(Lowercase()) }
      let space = try ReplacementPattern(regularExpression: #"\s{2,}|[\n\r\t]"#)
      return steps
        + [Replacer(space, with: " "), FormNormalizer(.nfc), EdgeStripper(left: false, right: true)]
    }
  }

  private static func preTokenizers(
    _ family: SentencePieceFamily, _ settings: ObjectReader
  ) throws(BertQAError) -> [any PreTokenizer] {
    let prepends = try settings.bool("add_prefix_space") ?? true
    let mark: Unicode.Scalar = "\u{2581}"
    guard family == .debertaV2 else {
      return [
        SplitStep(SpacePattern(), .removed), Metaspace(mark, prepends ? .always : .never, splits: true),
      ]
    }
    var steps: [any PreTokenizer] = []
    if try settings.bool("split_by_punct") == true {
      steps.append(SplitStep(ClassPattern(.punctuation), .isolated))
    }
    steps.append(Metaspace(mark, prepends ? .always : .first, splits: true))
    return steps
  }

  /// Returns the model's control pieces and user-defined symbols.
  private static func symbols(_ source: SentencePieceModel) -> [AddedToken] {
    var tokens: [AddedToken] = []
    for (piece, kind) in zip(source.pieces, source.kinds) where kind == .control || kind == .userDefined {
      var token = AddedToken(String(decoding: piece, as: UTF8.self), isSpecial: kind == .control)
      token.isNormalized = false
      tokens.append(token)
    }
    return tokens
  }

  private func template(
    _ family: SentencePieceFamily, _ special: [String: AddedToken], file: String, _ monitor: CallMonitor?
  ) throws(BertQAError) -> Template {
    let added = try AddedVocabulary(self, monitor)
    func id(_ key: String) throws(BertQAError) -> Int32 {
      let content = Array((special[key]?.content ?? "").utf8)
      let id = content.withUnsafeBufferPointer { added.id(of: $0) ?? model.vocabulary.id(of: $0) }
      if let id { return id }
      throw BertQAError(.invalidModel, "\(file): has no piece for \(key); name it in tokenizer_config.json")
    }
    switch family {
    case .xlmRoberta, .camembert:
      let (begin, end) = (try id("bos_token"), try id("eos_token"))
      return Template(prefix: [begin], separator: [end, end], suffix: [end])
    case .albert, .debertaV2:
      let (cls, sep) = (try id("cls_token"), try id("sep_token"))
      return Template(prefix: [cls], separator: [sep], suffix: [sep])
    }
  }
}
