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

  /// How the pieces show where a word begins. The last pre-tokenizer that has a say decides, before the model.
  var wordMark: WordMark? {
    for preTokenizer in preTokenizers.reversed() {
      if let mark = preTokenizer.wordMark { return mark }
    }
    return model.wordMark
  }

  /// What the code that runs depends on: see `WarmUp.load`.
  var kind: String {
    // Not by the types' names: looking for one takes a lock, which a child forked meanwhile would find taken.
    let types =
      normalizers.map { ObjectIdentifier(Swift.type(of: $0)) }
      + preTokenizers.map { ObjectIdentifier(Swift.type(of: $0)) } + [ObjectIdentifier(Swift.type(of: model))]
    return types.map { String(UInt(bitPattern: $0)) }.joined(separator: " ")
      + (addedTokens.isEmpty ? "-" : "+") + (postProcessor.trimming.isEmpty ? "-" : "+")
  }
}
