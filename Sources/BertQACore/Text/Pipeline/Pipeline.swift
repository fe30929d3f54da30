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

  /// The table that performs all steps before the model character by character; nil if they are not BERT's.
  var characterTable: NormalizationTable? {
    guard normalizers.count == 1, preTokenizers.count == 1, preTokenizers[0].splitsAsBert,
      postProcessor.trimming.isEmpty
    else { return nil }
    return normalizers[0].characterTable
  }
}
