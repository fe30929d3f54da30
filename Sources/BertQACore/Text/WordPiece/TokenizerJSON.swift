/// A `tokenizer.json` of Hugging Face's tokenizers library, as far as it describes BERT's WordPiece.
struct TokenizerJSON {
  private let root: ObjectReader
  private let model: ObjectReader

  init(_ file: ModelFile) throws(BertQAError) {
    root = try ObjectReader(file)
    guard let model = try root.reader("model") else {
      throw BertQAError(.invalidModel, "\(file.path): \"model\" is missing")
    }
    self.model = model
    // Old files do not say the type.
    try require(model, "type", .string("WordPiece"))
    try require(model, "continuing_subword_prefix", .string("##"))
    try require(model, "max_input_chars_per_word", .number(.init(double: 100, integer: 100)))
  }

  /// Refuses a setting that is present with another value than the one supported.
  private func require(_ reader: ObjectReader, _ key: String, _ value: JSON) throws(BertQAError) {
    guard let found = reader.value(key), found != value else { return }
    throw BertQAError(
      .unsupported,
      "\(reader.file): \(quoted(key)) is \(found.summary); only \(value.summary) is supported")
  }

  /// The vocabulary by id. O(pieces).
  func pieces() throws(BertQAError) -> [[UInt8]] {
    guard let members = try model.reader("vocab")?.object.members else {
      throw BertQAError(.invalidModel, "\(root.file): \"vocab\" of the model is missing")
    }
    // An array and its bytes for each piece.
    try Memory.require(128 * members.count)
    var pieces: [[UInt8]?] = Array(repeating: nil, count: members.count)
    for (piece, value) in members.lazy.map({ ($0.key, $0.value) }) {
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
    try require(normalizer, "type", .string("BertNormalizer"))
    try require(normalizer, "clean_text", .bool(true))
    if let splitter = try root.reader("pre_tokenizer") {
      try require(splitter, "type", .string("BertPreTokenizer"))
    }
    configuration.lowercase = try normalizer.bool("lowercase") ?? configuration.lowercase
    configuration.stripAccents = try normalizer.bool("strip_accents")
    configuration.tokenizeChineseCharacters =
      try normalizer.bool("handle_chinese_chars") ?? configuration.tokenizeChineseCharacters
    configuration.unkToken = try model.string("unk_token") ?? configuration.unkToken
    return configuration
  }
}
