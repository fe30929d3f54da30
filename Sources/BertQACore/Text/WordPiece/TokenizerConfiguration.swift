/// The settings of a BERT tokenizer: the fields of a Hugging Face `tokenizer_config.json`.
struct TokenizerConfiguration: Sendable, Equatable {
  /// Drop control characters and make white space one kind; false only in a `tokenizer.json` (`clean_text`).
  var cleansText = true
  /// Lower-case every character by its Unicode mapping (`do_lower_case`).
  var lowercase = true
  /// Decompose (NFD) and drop non-spacing marks; nil: as `lowercase`.
  var stripAccents: Bool?
  /// Make each ideograph a pre-token of its own (`tokenize_chinese_chars`).
  var tokenizeChineseCharacters = true

  var unkToken = "[UNK]"
  var sepToken = "[SEP]"
  var padToken = "[PAD]"
  var clsToken = "[CLS]"
  var maskToken = "[MASK]"

  /// How often the separator stands between two texts.
  var separatorCount = 1

  /// The defaults of `MPNetTokenizer`.
  static var mpnet: TokenizerConfiguration {
    var settings = TokenizerConfiguration()
    (settings.clsToken, settings.sepToken) = ("<s>", "</s>")
    (settings.padToken, settings.maskToken) = ("<pad>", "<mask>")
    settings.separatorCount = 2
    return settings
  }

  /// True if accents are dropped, with the default resolved.
  var stripsAccents: Bool { stripAccents ?? lowercase }

  /// What determines the normalised text, for fingerprints.
  var switches: [String] { [lowercase, stripsAccents, tokenizeChineseCharacters].map { $0 ? "+" : "-" } }

  var specialTokens: [String] { [unkToken, sepToken, padToken, clsToken, maskToken] }
}

extension TokenizerConfiguration {
  /// Reads `tokenizer_config.json`.
  /// - Parameter defaults: those of the tokenizer's class.
  init(
    _ reader: ObjectReader, _ defaults: TokenizerConfiguration = TokenizerConfiguration()
  ) throws(BertQAError) {
    self = defaults
    lowercase = try reader.bool("do_lower_case") ?? lowercase
    stripAccents = try reader.bool("strip_accents")
    tokenizeChineseCharacters =
      try reader.bool("tokenize_chinese_chars") ?? tokenizeChineseCharacters
    unkToken = try Pipeline.token(reader, "unk_token")?.content ?? unkToken
    sepToken = try Pipeline.token(reader, "sep_token")?.content ?? sepToken
    padToken = try Pipeline.token(reader, "pad_token")?.content ?? padToken
    clsToken = try Pipeline.token(reader, "cls_token")?.content ?? clsToken
    maskToken = try Pipeline.token(reader, "mask_token")?.content ?? maskToken
  }

  /// Reads a `tokenizer.json`, which must describe BERT's tokenizer.
  init(tokenizerJSON root: ObjectReader) throws(BertQAError) {
    let model = try root.required("model", root.reader)
    try WordPieceModel.check(model)
    guard let normalizer = try root.reader("normalizer") else {
      throw BertQAError(
        .unsupported, "\(root.file): no \"normalizer\"; only BertNormalizer is supported")
    }
    try normalizer.require("type", .string("BertNormalizer"))
    try self.init(normalizer: normalizer)
    try root.reader("pre_tokenizer")?.require("type", .string("BertPreTokenizer"))
    unkToken = try model.string("unk_token") ?? unkToken
  }

  /// Reads the step BertNormalizer of a `tokenizer.json`.
  init(normalizer step: ObjectReader) throws(BertQAError) {
    self.init()
    cleansText = try step.bool("clean_text") ?? cleansText
    lowercase = try step.bool("lowercase") ?? lowercase
    stripAccents = try step.bool("strip_accents")
    tokenizeChineseCharacters = try step.bool("handle_chinese_chars") ?? tokenizeChineseCharacters
  }
}
