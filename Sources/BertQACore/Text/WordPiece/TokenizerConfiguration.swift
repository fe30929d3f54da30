/// How a BERT tokenizer treats text: the fields of a Hugging Face `tokenizer_config.json`.
public struct TokenizerConfiguration: Sendable, Equatable {
  /// Lower-case every character by its Unicode mapping (`do_lower_case`).
  public var lowercase = true
  /// Decompose (NFD) and drop non-spacing marks; nil does as `lowercase` does.
  public var stripAccents: Bool?
  /// Make each ideograph a word of its own (`tokenize_chinese_chars`).
  public var tokenizeChineseCharacters = true

  public var unkToken = "[UNK]"
  public var sepToken = "[SEP]"
  public var padToken = "[PAD]"
  public var clsToken = "[CLS]"
  public var maskToken = "[MASK]"

  public init() {}

  /// Whether accents are stripped, with the default resolved.
  var stripsAccents: Bool { stripAccents ?? lowercase }
}

extension TokenizerConfiguration {
  /// Reads `tokenizer_config.json`. Settings that are absent have the defaults of
  /// `BertTokenizerFast`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    self.init()
    try Self.checkClass(reader)
    lowercase = try reader.bool("do_lower_case") ?? lowercase
    stripAccents = try reader.bool("strip_accents")
    tokenizeChineseCharacters =
      try reader.bool("tokenize_chinese_chars") ?? tokenizeChineseCharacters
    unkToken = try Self.token(reader, "unk_token") ?? unkToken
    sepToken = try Self.token(reader, "sep_token") ?? sepToken
    padToken = try Self.token(reader, "pad_token") ?? padToken
    clsToken = try Self.token(reader, "cls_token") ?? clsToken
    maskToken = try Self.token(reader, "mask_token") ?? maskToken
  }

  /// A special token: a string, or an object (`AddedToken`) with its content.
  private static func token(_ reader: ObjectReader, _ key: String) throws(BertQAError) -> String? {
    if case .object(let object)? = reader.value(key) {
      return try ObjectReader(file: reader.file, object: object).string("content")
    }
    return try reader.string(key)
  }

  /// Whether a `tokenizer_class`, or that there is none, says nothing against BERT's way of splitting text.
  static func isBert(_ name: String?) -> Bool {
    guard let name else { return true }
    let isBert = name.hasSuffix("BertTokenizer") || name.hasSuffix("BertTokenizerFast")
    let isGeneric = ["PreTrainedTokenizerFast", "TokenizersBackend"].contains(name)
    let isElectra = ["ElectraTokenizer", "ElectraTokenizerFast"].contains(name)
    return isBert && !name.hasPrefix("Camem") || isGeneric || isElectra
  }

  /// Refuses tokenizers known to split text in another way than BERT's.
  private static func checkClass(_ reader: ObjectReader) throws(BertQAError) {
    let name = try reader.string("tokenizer_class")
    guard isBert(name) else {
      throw BertQAError(
        .unsupported,
        "\(reader.file): \"tokenizer_class\" is \(quoted(name ?? "")); supported: BertTokenizer "
          + "and classes that tokenize like it, and others with a tokenizer.json")
    }
    if try reader.bool("do_basic_tokenize") == false {
      throw BertQAError(
        .unsupported, "\(reader.file): \"do_basic_tokenize\" is false; only true is supported")
    }
  }
}
