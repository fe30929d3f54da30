/// A `tokenizer.json` of Hugging Face's tokenizers library, as far as it describes BERT's WordPiece.
struct TokenizerJSON {
  private let root: ObjectReader
  private let model: ObjectReader

  init(_ root: ObjectReader) throws(BertQAError) {
    self.root = root
    guard let model = try root.reader("model") else {
      throw BertQAError(.invalidModel, "\(root.file): \"model\" is missing")
    }
    self.model = model
    try Self.requireWordPiece(model)
  }

  /// Refuses another model than WordPiece with BERT's settings.
  static func requireWordPiece(_ model: ObjectReader) throws(BertQAError) {
    // Old files do not say the type.
    try require(model, "type", .string("WordPiece"))
    try require(model, "continuing_subword_prefix", .string("##"))
    try require(model, "max_input_chars_per_word", .number(.init(double: 100, integer: 100)))
  }

  /// Whether a `tokenizer.json` describes what `WordPieceTokenizer` does: BERT's normaliser, pre-tokenizer, model and
  /// template. What else WordPiece is used with is a `Pipeline`.
  static func isBert(_ root: ObjectReader) throws(BertQAError) -> Bool {
    func type(_ key: String) throws(BertQAError) -> String? { try root.reader(key)?.string("type") }
    guard let model = try root.reader("model"), try model.string("type") ?? "WordPiece" == "WordPiece",
      model.value("merges") == nil, try type("normalizer") == "BertNormalizer",
      try type("pre_tokenizer") ?? "BertPreTokenizer" == "BertPreTokenizer"
    else { return false }
    for token in try root.readers("added_tokens") where try !isPlainSpecial(token) { return false }
    let template = try root.reader("post_processor").map(PostProcessor.init)?.template ?? Template.none
    if template.isEmpty { return true }
    // The tokens that BERT's tokenizers use unless tokenizer_config.json names others.
    guard let vocabulary = try model.reader("vocab"),
      let cls = vocabulary.value("[CLS]").flatMap(Pipeline.tokenID),
      let sep = vocabulary.value("[SEP]").flatMap(Pipeline.tokenID)
    else { return false }
    return template == Template(prefix: [cls], separator: [sep], suffix: [sep])
  }

  private static func isPlainSpecial(_ reader: ObjectReader) throws(BertQAError) -> Bool {
    let token = try AddedToken(reader)
    return token.isSpecial && !token.isNormalized && !token.isSingleWord && !token.stripsLeft
      && !token.stripsRight
  }

  /// Refuses a setting that is present with another value than the one supported.
  private static func require(_ reader: ObjectReader, _ key: String, _ value: JSON) throws(BertQAError) {
    guard let found = reader.value(key), found != value else { return }
    throw BertQAError(
      .unsupported,
      "\(reader.file): \(quoted(key)) is \(found.summary); only \(value.summary) is supported")
  }

  /// The vocabulary by id. O(pieces).
  func pieces(_ monitor: CallMonitor?) throws(BertQAError) -> [[UInt8]] {
    guard let members = try model.reader("vocab")?.object.members else {
      throw BertQAError(.invalidModel, "\(root.file): \"vocab\" of the model is missing")
    }
    // An array and its bytes for each piece.
    try Memory.require(128 * members.count)
    var pieces: [[UInt8]?] = Array(repeating: nil, count: members.count)
    for (index, member) in members.enumerated() {
      if index % Pipeline.checkInterval == 0 { try monitor?.check() }
      let (piece, value) = (member.key, member.value)
      guard case .number(let number) = value, let id = number.integer,
        pieces.indices.contains(Int(id)), pieces[Int(id)] == nil
      else {
        throw BertQAError(
          .invalidModel,
          "\(root.file): piece \(quoted(piece)) has id \(value.summary), expected each of "
            + "0..<\(members.count) once")
      }
      pieces[Int(id)] = Array(piece.utf8)
    }
    return pieces.compactMap(\.self)
  }

  /// How the file's normaliser treats text.
  func configuration() throws(BertQAError) -> TokenizerConfiguration {
    var configuration = TokenizerConfiguration()
    guard let normalizer = try root.reader("normalizer") else {
      throw BertQAError(
        .unsupported, "\(root.file): no \"normalizer\"; only BertNormalizer is supported")
    }
    try Self.require(normalizer, "type", .string("BertNormalizer"))
    try Self.require(normalizer, "clean_text", .bool(true))
    if let splitter = try root.reader("pre_tokenizer") {
      try Self.require(splitter, "type", .string("BertPreTokenizer"))
    }
    configuration.lowercase = try normalizer.bool("lowercase") ?? configuration.lowercase
    configuration.stripAccents = try normalizer.bool("strip_accents")
    configuration.tokenizeChineseCharacters =
      try normalizer.bool("handle_chinese_chars") ?? configuration.tokenizeChineseCharacters
    configuration.unkToken = try model.string("unk_token") ?? configuration.unkToken
    return configuration
  }
}
