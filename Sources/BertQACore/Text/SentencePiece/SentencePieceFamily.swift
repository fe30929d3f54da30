/// The tokenizer classes of transformers that have a SentencePiece model.
enum SentencePieceFamily: String, CaseIterable {
  case xlmRoberta = "XLMRobertaTokenizer"
  case camembert = "CamembertTokenizer"
  case albert = "AlbertTokenizer"
  case debertaV2 = "DebertaV2Tokenizer"

  /// The name under which `save_pretrained` writes the model.
  var fileName: String {
    switch self {
    case .xlmRoberta, .camembert: "sentencepiece.bpe.model"
    case .albert: "spiece.model"
    case .debertaV2: "spm.model"
    }
  }

  /// "model_type" of `config.json`, which determines the class without `tokenizer_config.json`.
  private var modelType: String {
    switch self {
    case .xlmRoberta: "xlm-roberta"
    case .camembert: "camembert"
    case .albert: "albert"
    case .debertaV2: "deberta-v2"
    }
  }

  /// The special tokens by the keys of `tokenizer_config.json`, in the order in which they get ids.
  var specialTokens: [(key: String, token: AddedToken)] {
    let keys = [
      "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
    ]
    let spellings =
      switch self {
      case .xlmRoberta, .camembert: ["<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"]
      case .albert: ["[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"]
      case .debertaV2: ["[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"]
      }
    return zip(keys, spellings).map { key, spelling in
      var token = AddedToken(spelling, isSpecial: true)
      token.stripsLeft = self == .camembert && key == "mask_token"
      return (key, token)
    }
  }

  /// Chooses by `tokenizer_class`, else by the model's type, else by the name of an existing file.
  /// - Parameters:
  ///   - settings: `tokenizer_config.json`.
  ///   - configuration: `config.json`.
  static func of(
    _ settings: ObjectReader, _ configuration: ObjectReader?, exists: (String) -> Bool
  ) throws(BertQAError) -> SentencePieceFamily? {
    if let name = try settings.string("tokenizer_class") {
      let slow = name.hasSuffix("Fast") ? String(name.dropLast(4)) : name
      if let family = SentencePieceFamily(rawValue: slow) { return family }
      throw BertQAError(
        .unsupported,
        "\(settings.file): \"tokenizer_class\" is \(quoted(name)); of a SentencePiece model without "
          + "tokenizer.json these are supported: \(allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if let type = try configuration?.string("model_type"),
      let family = allCases.first(where: { $0.modelType == type })
    {
      return family
    }
    return allCases.first { exists($0.fileName) }
  }
}
