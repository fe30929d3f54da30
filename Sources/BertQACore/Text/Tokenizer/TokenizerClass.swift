/// transformers' class that reads a tokenizer's files: `tokenizer_class` of `tokenizer_config.json`, else of
/// `config.json`, else that of its "model_type", for families whose files do not name one.
struct TokenizerClass: Sendable {
  /// Without "Fast"; nil if no file names a class and "model_type" is absent or not known.
  let name: String?
  /// True if a file names the class.
  let isStated: Bool
  /// The path of the file that names it.
  private let file: String
  private let modelType: String?

  init(_ directory: ModelDirectory) throws(BertQAError) {
    let names = ["tokenizer_config.json", "config.json"].filter(directory.exists)
    var modelType: String?
    for name in names {
      let settings = try directory.object(in: name)
      if name == "tokenizer_config.json" { try settings.refuseCode() }
      let found = try settings.string("tokenizer_class")
      if found == nil, name == "config.json" { modelType = try settings.string("model_type") }
      guard let found else { continue }
      self.init(found, isStated: true, file: settings.file)
      return
    }
    self.init(modelType.flatMap { Self.ofModelTypes[$0] }, modelType, file: directory.name)
  }

  private init(_ name: String?, _ modelType: String? = nil, isStated: Bool = false, file: String) {
    let isFast = name?.hasSuffix("Fast") == true && name != "PreTrainedTokenizerFast"
    self.name = isFast ? name.map { String($0.dropLast(4)) } : name
    self.isStated = isStated
    self.file = file
    self.modelType = modelType
  }

  /// True for BERT's class by any of its names, and if neither a class nor a model's type is known.
  var isBert: Bool { name.map(Self.bert.contains) ?? (modelType == nil) }

  /// True for the class that has no settings besides `tokenizer.json`.
  var isGeneric: Bool { name == "PreTrainedTokenizerFast" || name == "TokenizersBackend" }

  var isMPNet: Bool { name == "MPNetTokenizer" }

  /// True for the classes that read the merges of fastBPE.
  var isFastBPE: Bool { name == "BertweetTokenizer" || name == "PhobertTokenizer" }

  /// True for the classes that set `trim_offsets`, and the prefix space of offsets, of a `tokenizer.json`.
  var setsTrimming: Bool {
    name == "RobertaTokenizer" || name == "LongformerTokenizer" || name == "BartTokenizer"
  }

  /// True for the classes that set `add_prefix_space` of a `tokenizer.json`.
  var setsPrefixSpace: Bool { setsTrimming || name == "DebertaTokenizer" || name == "GPT2Tokenizer" }

  /// False if models get no token types from the class; nil if no file names a class. transformers 4 gave
  /// `PreTrainedTokenizerFast` its template's, which transformers 5 does not.
  var givesTokenTypes: Bool? { name.map { !Self.withoutTokenTypes.contains($0) } }

  private static let ofModelTypes = [
    "albert": "AlbertTokenizer", "bart": "BartTokenizer", "bert": "BertTokenizer",
    "camembert": "CamembertTokenizer", "convbert": "ConvBertTokenizer",
    "data2vec-text": "RobertaTokenizer", "deberta": "DebertaTokenizer", "deberta-v2": "DebertaV2Tokenizer",
    "distilbert": "DistilBertTokenizer", "electra": "ElectraTokenizer", "ernie": "BertTokenizer",
    "gpt2": "GPT2Tokenizer", "ibert": "RobertaTokenizer", "layoutlm": "LayoutLMTokenizer",
    "longformer": "LongformerTokenizer", "lxmert": "LxmertTokenizer", "megatron-bert": "BertTokenizer",
    "mobilebert": "MobileBertTokenizer", "modernbert": "TokenizersBackend", "mpnet": "MPNetTokenizer",
    "nomic_bert": "BertTokenizer", "roberta": "RobertaTokenizer",
    "roberta-prelayernorm": "RobertaTokenizer", "squeezebert": "SqueezeBertTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer", "xmod": "XLMRobertaTokenizer",
  ]

  private static let bert = [
    "BertTokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer", "LxmertTokenizer",
    "MobileBertTokenizer", "RetriBertTokenizer", "SqueezeBertTokenizer",
  ]

  private static let withoutTokenTypes = [
    "BertweetTokenizer", "CamembertTokenizer", "DPRReaderTokenizer", "DistilBertTokenizer",
    "LongformerTokenizer",
    "MPNetTokenizer", "PhobertTokenizer", "RobertaTokenizer", "TokenizersBackend", "XLMRobertaTokenizer",
  ]

  /// What a class needs besides its `vocab.txt`.
  private static let needs = [
    "BertJapaneseTokenizer": "splits words by a dictionary (MeCab, Sudachi or Juman++)",
    "KoBertTokenizer": "reads a SentencePiece model",
    "SplinterTokenizer": "adds [QUESTION] and a full stop to pairs",
  ]

  /// Throws if a file names a class for which `vocab.txt` alone does not make the tokenizer. If only the model's type
  /// is known, a `vocab.txt` is BERT's, as in checkpoints whose authors load it with BERT's class.
  func checkReadsVocabulary() throws(BertQAError) {
    guard isStated, !isBert, !isGeneric, !isMPNet, let name else { return }
    let reason = Self.needs[name].map { ", which \($0)" } ?? ""
    throw BertQAError(
      .unsupported,
      "\(file): \"tokenizer_class\" is \(quoted(name))\(reason); supported: BertTokenizer and classes that tokenize like it, "
        + "and others with a tokenizer.json")
  }
}

extension ObjectReader {
  /// Throws if the file names code of the checkpoint's own that transformers would run.
  func refuseCode() throws(BertQAError) {
    guard let map = value("auto_map") else { return }
    throw BertQAError(
      .unsupported,
      "\(file): \"auto_map\" is \(map.summary): the checkpoint has code of its own, which libbertqa does not run; "
        + "remove the key if the classes of transformers give the same results")
  }
}
