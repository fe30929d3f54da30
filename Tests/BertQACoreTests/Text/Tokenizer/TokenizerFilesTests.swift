import Testing

@testable import BertQACore

struct TokenizerFilesTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// The directory's files, or the file of this name alone.
  private func load(_ name: String? = nil) throws -> TokenizerFiles {
    try TokenizerFiles(path: name.map { directory.file($0) } ?? directory.path)
  }

  /// As `vocab.txt` has them.
  private static let special = "[UNK]\n[CLS]\n[SEP]\n"

  @Test func theFactoryTakesADirectoryOrAFile() throws {
    let pieces = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nfox\n"
    try directory.write(pieces, to: "vocab.txt")
    for path in [directory.path, directory.file("vocab.txt")] {
      let loaded = try TokenizerFiles(path: path)
      #expect(loaded.vocabularySize == 5)
      #expect(try loaded.makeTokenizer().template == Template(prefix: [2], separator: [3], suffix: [3]))
    }
    let files = ["vocab.txt": Array(pieces.utf8)]
    let inMemory = try TokenizerFiles(ModelDirectory(files: files))
    #expect(inMemory.vocabularySize == 5)
    #expect(failure { _ = try TokenizerFiles(path: directory.file("none")) }?.status == .io)
    #expect(
      failure { _ = try TokenizerFiles(ModelDirectory(path: directory.file("none"))) }?.status == .io)
  }

  private static let model = """
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 1, "[PAD]": 0, "##es": 3, "fox": 2, "[SEP]": 4, "[CLS]": 5}}
    """
  private static let cased = """
    "normalizer": {"type": "BertNormalizer", "lowercase": false, "strip_accents": true,
    "handle_chinese_chars": false, "clean_text": true}
    """

  @Test func readsVocabularyFile() throws {
    try directory.write(Self.special + "fox\n", to: "vocab.txt")
    let files = try load()
    #expect(files.vocabularySize == 4)
    #expect(files.settings == TokenizerConfiguration())
    #expect(files.vocabularyFile.path == directory.file("vocab.txt"))
    #expect(try load("vocab.txt").vocabularySize == 4)
  }

  @Test func readsTokenizerJSON() throws {
    try directory.write("{\(Self.model), \(Self.cased)}", to: "tokenizer.json")
    for files in [try load(), try load("tokenizer.json")] {
      #expect(files.vocabularySize == 6)
      let settings = try #require(files.settings)
      #expect(!settings.lowercase)
      #expect(settings.stripAccents == true)
      #expect(!settings.tokenizeChineseCharacters)
      #expect(!files.lowercases)
    }
    // It goes before vocab.txt. Only the classes of BERT let tokenizer_config.json override its normaliser.
    try directory.write(Self.special, to: "vocab.txt")
    #expect(try load().vocabularySize == 6)
    #expect(try !load().lowercases)
    try directory.write("{}", to: "tokenizer_config.json")
    #expect(try load().lowercases && load().settings == nil)
    #expect(try load("tokenizer.json").vocabularySize == 6)
    for (name, lowercases) in [
      ("BertTokenizer", true), ("DistilBertTokenizerFast", true), ("PreTrainedTokenizerFast", false),
      ("TokenizersBackend", false), ("KoBertTokenizer", false), ("BertJapaneseTokenizer", false),
    ] {
      try directory.write(
        "{\"tokenizer_class\": \"\(name)\", \"do_lower_case\": true}", to: "tokenizer_config.json")
      #expect(try load().lowercases == lowercases, "\(name)")
    }
  }

  /// Ids and pieces of a text, whose words are all known.
  private func ids(_ text: String, parseSpecialTokens: Bool = false) throws -> [Int32] {
    try #require(try load().makeTokenizer() as? PipelineTokenizer).tokens(
      text, parseSpecialTokens: parseSpecialTokens
    ).ids
  }

  /// The tokens of a text that `#` and `<tweet>` beside a vocabulary without them make one each.
  @Test func addedTokensAreRead() throws {
    let token = "{\"content\": \"<Tweet>\", \"normalized\": false}"
    let text = "fox <Tweet>fox #"
    func write(_ files: [String: String]) throws {
      for name in ["vocab.txt", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json"] {
        if let text = files[name] {
          try directory.write(text, to: name)
        } else {
          try? directory.remove(name)
        }
      }
    }
    let added =
      "\"added_tokens\": [{\"id\": 6, \"content\": \"#\", \"normalized\": true}, {\"id\": 7, "
      + token.dropFirst() + "]"
    // Beside vocab.txt.
    try write(["vocab.txt": Self.special, "tokenizer.json": "{\(Self.model), \(Self.cased), \(added)}"])
    #expect(try ids(text) == [2, 7, 2, 6])
    try write([
      "vocab.txt": Self.special + "fox\n",
      "tokenizer_config.json": "{\"added_tokens_decoder\": {\"5\": \(token), \"4\": {\"content\": \"#\"}}}",
    ])
    #expect(try ids(text) == [3, 5, 3, 4])
    try directory.write("{\"<Tweet>\": 5, \"#\": 4}", to: "added_tokens.json")
    try write(["vocab.txt": Self.special + "fox\n"])
    #expect(try ids(text.lowercased()) == [3, 5, 3, 4])
    #expect(try load().files.map(\.name) == ["vocab.txt", "added_tokens.json"])
    let pieces = ["<s>", "</s>", "<unk>", "<pad>", "f", "o", "x", "fo", "fox"].enumerated().map {
      "\"\($1)\": \($0)"
    }
    try write(["vocab.json": "{\(pieces.joined(separator: ", "))}", "merges.txt": "f o\nfo x\n"])
    try directory.write("{\"<Tweet>\": 10, \"#\": 9}", to: "added_tokens.json")
    #expect(try ids("fox#<Tweet>") == [8, 9, 10])
  }

  /// Two definitions with the same pieces but other tokens.
  @Test func addedTokensTellTokenizersApart() throws {
    func tokenizer(_ settings: String) throws -> any Tokenizer {
      try directory.write(Self.special + "fox\n", to: "vocab.txt")
      try directory.write(settings, to: "tokenizer_config.json")
      return try load().makeTokenizer()
    }
    let plain = try tokenizer("{}")
    #expect(plain.agrees(with: try tokenizer("{\"do_lower_case\": true}")))
    #expect(!plain.agrees(with: try tokenizer("{\"added_tokens_decoder\": {\"4\": {\"content\": \"#\"}}}")))
  }

  /// config.json names the class if tokenizer_config.json does not.
  @Test func theClassOfTheModelCounts() throws {
    try directory.write("<s>\n</s>\n[UNK]\n" + Self.special + "fox\n", to: "vocab.txt")
    try directory.write("{\"tokenizer_class\": \"BertJapaneseTokenizer\"}", to: "config.json")
    let error = try #require(failure { _ = try load() })
    #expect(error.status == .unsupported && error.message.contains("BertJapaneseTokenizer"), "\(error)")
    #expect(error.message.hasPrefix(directory.file("config.json")))
    try directory.write("{\"tokenizer_class\": \"BertTokenizer\"}", to: "tokenizer_config.json")
    #expect(try load().makeTokenizer().template == Template(prefix: [4], separator: [5], suffix: [5]))
    // MPNet's class has other defaults.
    let template = Template(prefix: [0], separator: [1, 1], suffix: [1])
    for (name, text) in [
      ("config.json", "{\"model_type\": \"mpnet\"}"),
      ("tokenizer_config.json", "{\"tokenizer_class\": \"MPNetTokenizerFast\"}"),
    ] {
      try? directory.remove("tokenizer_config.json")
      try directory.write("{}", to: "config.json")
      try directory.write(text, to: name)
      #expect(try load().makeTokenizer().template == template)
    }
  }

  @Test func codeOfItsOwnIsRefused() throws {
    try directory.write(Self.special, to: "vocab.txt")
    let own = "{\"auto_map\": {\"AutoTokenizer\": [\"tokenization_own.OwnTokenizer\", null]}}"
    try directory.write(own, to: "tokenizer_config.json")
    let error = try #require(failure { _ = try load() })
    #expect(error.status == .unsupported && error.message.contains("\"auto_map\""), "\(error)")
  }

  @Test(arguments: [
    ("\"type\": \"BertProcessing\", \"sep\": [\"[SEP]\", 4], \"cls\": [\"[CLS]\", 5]", 1),
    ("\"type\": \"RobertaProcessing\", \"sep\": [\"[SEP]\", 4], \"cls\": [\"[CLS]\", 5]", 0),
    (template(0, 0, 0), 0), (template(0, 1, 1), 1), (template(1, 1, 1), nil), (template(0, 1, 0), nil),
  ])
  func templatesHaveTokenTypes(processor: String, second: Int?) throws {
    try directory.write("{\(Self.model), \"post_processor\": {\(processor)}}", to: "tokenizer.json")
    let expected: [Int?: PostProcessor.TokenTypes] = [0: .zero, 1: .ofSegments, nil: .other]
    #expect(try load().tokenTypes == expected[second])
  }

  /// A list in the file repeats a list in the file: their lengths multiply.
  @Test func specialTokensOfATemplateAreLimited() throws {
    let repeated = { (text: String, count: Int) in
      Array(repeating: text, count: count).joined(separator: ", ")
    }
    func write(_ count: Int, _ name: String = "x") throws {
      let tokens = repeated("{\"SpecialToken\": {\"id\": \"\(name)\"}}", count)
      let first = "\(tokens), {\"Sequence\": {\"id\": \"A\"}}"
      let processor = """
        "type": "TemplateProcessing", "single": [\(first)], "pair": [\(first), {"Sequence": {"id": "B"}}],
        "special_tokens": {"x": {"ids": [\(repeated("5", 64))]}}
        """
      try directory.write("{\(Self.model), \"post_processor\": {\(processor)}}", to: "tokenizer.json")
    }
    try write(16)
    #expect(try load().makeTokenizer().template.prefix == Array(repeating: 5, count: 1024))
    try write(17)
    let tooMany = try #require(failure { _ = try load() })
    #expect(tooMany.status == .tooLarge && tooMany.message.contains("\"single\""), "\(tooMany)")
    try write(1, "y")
    let missing = try #require(failure { _ = try load() })
    #expect(missing.status == .invalidModel && missing.message.contains("\"y\""), "\(missing)")
  }

  /// A post-processor with token types of the separator, the second text and the last token.
  private static func template(_ separator: Int, _ second: Int, _ last: Int) -> String {
    func special(_ name: String, _ type: Int) -> String {
      "{\"SpecialToken\": {\"id\": \"\(name)\", \"type_id\": \(type)}}"
    }
    let first = "\(special("[CLS]", 0)), {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}"
    let tokens = [("[CLS]", 5), ("[SEP]", 4)].map { "\"\($0)\": {\"ids\": [\($1)]}" }.joined(separator: ", ")
    return """
      "type": "TemplateProcessing", "single": [\(first), \(special("[SEP]", 0))],
      "pair": [\(first), \(special("[SEP]", separator)), {"Sequence": {"id": "B", "type_id": \(second)}},
      \(special("[SEP]", last))], "special_tokens": {\(tokens)}
      """
  }

  /// transformers' RoBERTa sets it by tokenizer_config.json, other classes do not.
  @Test(arguments: [
    ("RobertaTokenizer", true), ("RobertaTokenizerFast", true), ("PreTrainedTokenizerFast", false),
  ])
  func prefixSpaceOfRoberta(name: String, follows: Bool) throws {
    let vocabulary = "{\"f\": 0, \"\u{120}\": 1}"
    try directory.write(
      """
      {"model": {"type": "BPE", "vocab": \(vocabulary), "merges": []},
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}}
      """, to: "tokenizer.json")
    for adds in [true, false] {
      try directory.write(
        "{\"tokenizer_class\": \"\(name)\", \"add_prefix_space\": \(adds)}", to: "tokenizer_config.json")
      #expect(try ids("f") == (follows && adds ? [1, 0] : [0]))
    }
  }

  @Test func piecesAreInTheOrderOfTheirIDs() throws {
    let path = try directory.write("{\(Self.model)}", to: "tokenizer.json")
    let model = try #require(try ObjectReader(ModelFile(path: path)).reader("model"))
    let pieces = try Pipeline.pieces(of: model, nil)
    #expect(pieces == ["[PAD]", "[UNK]", "fox", "##es", "[SEP]", "[CLS]"].map { Array($0.utf8) })
  }

  @Test func readsTokenizerConfiguration() throws {
    func read(_ text: String) throws -> TokenizerConfiguration {
      try TokenizerConfiguration(
        ObjectReader(ModelFile(path: directory.write(text, to: "tokenizer_config.json"))))
    }
    var expected = TokenizerConfiguration()
    expected.lowercase = false
    expected.tokenizeChineseCharacters = false
    expected.unkToken = "<unk>"
    expected.clsToken = "<s>"
    #expect(
      try read(
        """
        {"do_lower_case": false, "strip_accents": null, "tokenize_chinese_chars": false,
         "unk_token": "<unk>", "cls_token": {"content": "<s>", "lstrip": false}, "sep_token": null,
         "tokenizer_class": "DistilBertTokenizerFast", "model_max_length": 1000000000000000019884624838656}
        """) == expected)
    #expect(try read("{\"strip_accents\": false}").stripAccents == false)
  }

  @Test(arguments: [
    ("{\"do_lower_case\": 1}", Status.invalidModel, "\"do_lower_case\" is 1, expected true or false"),
    ("{\"unk_token\": 1}", .invalidModel, "\"unk_token\" is 1, expected a string"),
    ("{\"tokenizer_class\": \"RobertaTokenizer\"}", .unsupported, "\"RobertaTokenizer\"; supported"),
    ("{\"tokenizer_class\": \"BertJapaneseTokenizer\"}", .unsupported, "BertJapaneseTokenizer"),
    ("{\"tokenizer_class\": \"CamembertTokenizer\"}", .unsupported, "CamembertTokenizer"),
    ("{\"tokenizer_class\": \"SplinterTokenizer\"}", .unsupported, "adds [QUESTION]"),
    ("[]", .invalidModel, "expected a JSON object"),
  ])
  func refusesTokenizerConfiguration(text: String, status: Status, message: String) throws {
    try directory.write("a\n", to: "vocab.txt")
    try directory.write(text, to: "tokenizer_config.json")
    let error = try #require(failure { _ = try load() })
    #expect(error.status == status)
    #expect(error.message.hasPrefix(directory.file("tokenizer_config.json")))
    #expect(error.message.contains(message), "\(error)")
  }

  @Test(arguments: [
    ("{}", Status.invalidModel, "\"model\" is missing"),
    ("{\"model\": {\"continuing_subword_prefix\": \"@\"}}", .unsupported, "only \"##\" is supported"),
    ("{\"model\": {\"max_input_chars_per_word\": 99}}", .unsupported, "is 99; only 100"),
    ("{\"model\": {}}", .invalidModel, "\"vocab\" is missing"),
    (
      "{\"model\": {\"vocab\": {\"a\": 0, \"b\": 0}}}", .invalidModel,
      "the pieces \"a\" and \"b\" have the same id, 0"
    ),
    ("{\"model\": {\"vocab\": {\"a\": -1}}}", .invalidModel, "\"a\" is -1, expected an id"),
    ("{\"model\": {\"vocab\": {\"a\": 9223372036854775807}}}", .invalidModel, "\"a\" is 922"),
    ("{\"model\": {\"vocab\": {\"a\": \"0\"}}}", .invalidModel, "\"a\" is \"0\""),
  ])
  func refusesTokenizerJSON(text: String, status: Status, message: String) throws {
    try directory.write("{}", to: "tokenizer_config.json")
    // BERT's, and with another step.
    for normalizer in ["BertNormalizer", "NFC"] {
      let rest = text == "{}" ? "}" : ", " + text.dropFirst()
      try directory.write("{\"normalizer\": {\"type\": \"\(normalizer)\"}" + rest, to: "tokenizer.json")
      let error = try #require(failure { _ = try load() })
      #expect(error.status == status)
      #expect(error.message.hasPrefix(directory.file("tokenizer.json")))
      #expect(error.message.contains(message), "\(error)")
    }
  }

  @Test(arguments: [
    #"{"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "é"}"#,
    #"{"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "é"}"#,
    #"{"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "é"}"#,
  ])
  func theUnknownTokenMustBeAPiece(model: String) throws {
    try directory.write("{\"model\": \(model)}", to: "tokenizer.json")
    #expect(
      failure { _ = try load() }
        == BertQAError(
          .invalidModel,
          "\(directory.file("tokenizer.json")): \"unk_token\" \"é\" is not in the vocabulary"))
  }

  /// As in transformers, in which the repeated piece itself gets the id of the next one.
  @Test func repeatedPiecesOfFastBPETakeNoID() throws {
    try directory.write("a 9\n<s> 8\na 7\nb 6\n", to: "vocab.txt")
    try directory.write("x y 1\n", to: "bpe.codes")
    try directory.write("{\"tokenizer_class\": \"PhobertTokenizer\"}", to: "tokenizer_config.json")
    #expect(try ids("a b <s>", parseSpecialTokens: true) == [4, 5, 0])
  }

  @Test func fastBPEsFilesAreNamed() throws {
    let files = ["vocab.txt": [0xFF] + Array(" 1\n".utf8), "bpe.codes": Array("a b 1\n".utf8)]
    let error = failure { _ = try TokenizerFiles(ModelDirectory(files: files)) }
    #expect(error?.status == .invalidModel)
    #expect(error?.message.contains("vocab.txt: vocabulary: piece 4") == true, "\(error?.message ?? "")")
  }

  @Test func saysWhatIsMissing() throws {
    #expect(
      failure { _ = try TokenizerFiles(path: directory.path) }
        == BertQAError(
          .io,
          "\(directory.path): has neither vocab.txt, tokenizer.json, a SentencePiece model, nor vocab.json and "
            + "merges.txt"))
    #expect(failure { _ = try load("none.txt") }?.status == .io)
    try directory.write("", to: "vocab.txt")
    #expect(
      failure { _ = try load() }
        == BertQAError(.invalidModel, "\(directory.file("vocab.txt")): the vocabulary is empty"))
  }
}
