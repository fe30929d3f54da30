/// The steps from a text to ids, as a `tokenizer.json` lists them:
///
///     added tokens → normalizers → added tokens, normalised → pre-tokenizers → model → post-processor
struct Pipeline: Sendable {
  var normalizers: [any Normalizer] = []
  var preTokenizers: [any PreTokenizer] = []
  var model: any TokenModel
  /// In the order of the file.
  var addedTokens: [AddedToken] = []
  var postProcessor = PostProcessor()
  /// Equal for pipelines that give the same tokens for every text.
  var fingerprint: UInt64 = 0

  var lowercases: Bool { normalizers.contains { $0.lowercases } }

  /// The table that performs all steps before the model character by character; nil if they are not BERT's.
  var characterTable: NormalizationTable? {
    guard normalizers.count == 1, preTokenizers.count == 1, preTokenizers[0].splitsAsBert,
      postProcessor.trimming.isEmpty
    else { return nil }
    return normalizers[0].characterTable
  }
}

extension Pipeline {
  /// Reads a `tokenizer.json`. "truncation", "padding" and "decoder" do not affect tokens here.
  init(_ root: ObjectReader, _ monitor: CallMonitor?) throws(BertQAError) {
    if let version = try root.string("version"), version != "1.0" {
      throw BertQAError(.unsupported, "\(root.file): \"version\" is \(quoted(version)); supported: \"1.0\"")
    }
    let model = try root.required("model", root.reader)
    let normalizers = try root.reader("normalizer").map(Self.normalizers) ?? []
    let steps = try root.reader("pre_tokenizer").map(Self.preTokenizers) ?? []
    self.init(model: try Self.model(model, spelled: steps.last?.spellsBytes == true, monitor))
    self.normalizers = normalizers
    preTokenizers = steps
    for token in try root.readers("added_tokens") { addedTokens.append(try AddedToken(token)) }
    postProcessor = try root.reader("post_processor").map(PostProcessor.init) ?? PostProcessor()
  }

  /// Returns the object's "type".
  static func typeName(of step: ObjectReader, _ what: String) throws(BertQAError) -> String {
    if let type = try step.string("type") { return type }
    throw BertQAError(.invalidModel, "\(step.file): \(what) has no \"type\"")
  }

  /// - Parameter what: such as "the normalizer".
  static func unsupported(
    _ step: ObjectReader, _ what: String, _ type: String, supported: [String]
  ) -> BertQAError {
    BertQAError(
      .unsupported,
      "\(step.file): \(what) \(quoted(type)) is not supported; supported: \(supported.joined(separator: ", "))"
    )
  }
}
