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
    // Its vocabulary yields to vocab.txt, its normaliser to tokenizer_config.json.
    try directory.write(Self.special, to: "vocab.txt")
    #expect(try load().vocabularySize == 3)
    #expect(try !load().lowercases)
    try directory.write("{}", to: "tokenizer_config.json")
    #expect(try load().lowercases && load().settings == nil)
    #expect(try load("tokenizer.json").vocabularySize == 6)
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
    ("{\"do_basic_tokenize\": false}", .unsupported, "\"do_basic_tokenize\" is false"),
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

  /// `vocab.txt` is BERT's: a `tokenizer.json` beside it must be, too, if it has a say.
  @Test(arguments: [
    ("\"normalizer\": null", "no \"normalizer\""),
    ("\"normalizer\": {\"type\": \"NFC\"}", "\"type\" is \"NFC\"; only \"BertNormalizer\""),
    ("\"normalizer\": {\"clean_text\": false}", "\"clean_text\" is false; only true"),
    (cased + ", \"pre_tokenizer\": {\"type\": \"Whitespace\"}", "only \"BertPreTokenizer\""),
  ])
  func refusesOtherNormalisation(member: String, message: String) throws {
    try directory.write(Self.special, to: "vocab.txt")
    try directory.write("{\(Self.model), \(member)}", to: "tokenizer.json")
    let error = try #require(failure { _ = try load() })
    #expect(error.status == .unsupported)
    #expect(error.message.contains(message), "\(error)")
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
