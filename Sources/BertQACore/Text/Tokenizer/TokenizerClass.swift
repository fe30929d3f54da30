/// transformers' class that reads a tokenizer's files: `tokenizer_class` of `tokenizer_config.json`, else of
/// `config.json`, else that of its "model_type", for families whose files do not name one.
struct TokenizerClass: Sendable {
  /// Without "Fast"; nil if no file names a class.
  let name: String?
  /// The path of the file that names it.
  private let file: String

  init(_ directory: ModelDirectory) throws(BertQAError) {
    let names = ["tokenizer_config.json", "config.json"].filter(directory.exists)
    for name in names {
      let settings = try directory.object(in: name)
      if name == "tokenizer_config.json" { try settings.refuseCode() }
      var found = try settings.string("tokenizer_class")
      if found == nil, name == "config.json", let type = try settings.string("model_type") {
        found = Self.ofModelTypes[type]
      }
      guard let found else { continue }
      self.init(found, file: settings.file)
      return
    }
    self.init(nil, file: directory.name)
  }

  private init(_ name: String?, file: String) {
    let isFast = name?.hasSuffix("Fast") == true && name != "PreTrainedTokenizerFast"
    self.name = isFast ? name.map { String($0.dropLast(4)) } : name
    self.file = file
  }

  /// True if the class is not known or BERT's by any of its names.
  var isBert: Bool { name.map(Self.bert.contains) ?? true }

  /// True for the class that has no settings besides `tokenizer.json`.
  var isGeneric: Bool { name == "PreTrainedTokenizerFast" || name == "TokenizersBackend" }

  var isMPNet: Bool { name == "MPNetTokenizer" }

  /// True for the classes that read the merges of fastBPE.
  var isFastBPE: Bool { name == "BertweetTokenizer" || name == "PhobertTokenizer" }

  var isRoberta: Bool { name == "RobertaTokenizer" || name == "LongformerTokenizer" }

  /// False if models get no token types from the class; nil if no file names a class. transformers 4 gave
  /// `PreTrainedTokenizerFast` its template's, which transformers 5 does not.
  var givesTokenTypes: Bool? { name.map { !Self.withoutTokenTypes.contains($0) } }

  private static let ofModelTypes = ["mpnet": "MPNetTokenizer", "deberta": "DebertaTokenizer"]

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

  /// Throws unless `vocab.txt` alone makes the tokenizer.
  func checkReadsVocabulary() throws(BertQAError) {
    guard !isBert, !isGeneric, !isMPNet, let name else { return }
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
