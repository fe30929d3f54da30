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
