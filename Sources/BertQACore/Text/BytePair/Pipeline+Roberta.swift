extension Pipeline {
  /// Makes a RoBERTa's or DeBERTa's tokenizer from `vocab.json` and `merges.txt`, as transformers does.
  /// - Parameters:
  ///   - name: transformers' class; nil: RoBERTa's.
  ///   - settings: `tokenizer_config.json`, or nothing.
  init(
    robertaVocabulary: ObjectReader, merges: ModelFile, _ name: String?, _ settings: ObjectReader,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    let name = name ?? "RobertaTokenizer"
    let isDeberta = name == "DebertaTokenizer"
    guard isDeberta || ["RobertaTokenizer", "LongformerTokenizer", "BartTokenizer"].contains(name) else {
      throw BertQAError(
        .unsupported,
        "\(settings.file): \"tokenizer_class\" is \(quoted(name)); of vocab.json and merges.txt without "
          + "tokenizer.json RobertaTokenizer, LongformerTokenizer, BartTokenizer and DebertaTokenizer are supported: "
          + "save the tokenizer with save_pretrained of its fast class")
    }
    let addsPrefixSpace = try settings.bool("add_prefix_space") ?? false
    let pieces = try Self.pieces(robertaVocabulary, monitor)
    let pairs = try merges.withBytes { bytes throws(BertQAError) in
      try Self.merges(bytes, file: merges.path, monitor)
    }
    self.init(
      model: try BytePairModel(
        pieces: pieces, merges: pairs, BytePairSettings(), spelled: true, file: robertaVocabulary.file,
        monitor))
    preTokenizers = [ByteLevel(addsPrefixSpace: addsPrefixSpace, usesPattern: true)]
    var ids: [String: Int32] = [:]
    let spellings =
      isDeberta
      ? [
        ("unk_token", "[UNK]"), ("sep_token", "[SEP]"), ("pad_token", "[PAD]"), ("cls_token", "[CLS]"),
        ("mask_token", "[MASK]"),
      ]
      : [
        ("bos_token", "<s>"), ("eos_token", "</s>"), ("unk_token", "<unk>"), ("sep_token", "</s>"),
        ("pad_token", "<pad>"), ("cls_token", "<s>"), ("mask_token", "<mask>"),
      ]
    for (key, spelling) in spellings {
      let token = try Self.token(settings, key) ?? AddedToken(spelling, isSpecial: true)
      addedTokens.append(token)
      ids[key] = model.vocabulary.id(of: token.content)
    }
    guard let cls = ids["cls_token"], let sep = ids["sep_token"] else {
      throw BertQAError(
        .invalidModel,
        "\(robertaVocabulary.file): has no piece for cls_token or sep_token; name both in tokenizer_config.json"
      )
    }
    if isDeberta {
      postProcessor = PostProcessor(Template(prefix: [cls], separator: [sep], suffix: [sep]), trimming: [])
      return
    }
    postProcessor = PostProcessor(
      Template(prefix: [cls], separator: [sep, sep], suffix: [sep]),
      trimming: try settings.bool("trim_offsets") ?? true ? [addsPrefixSpace] : [])
  }

  /// Sets whether the only pre-tokenizer, if it is a byte-level one, adds a space before a text.
  mutating func setPrefixSpace(_ adds: Bool) {
    guard preTokenizers.count == 1, let step = preTokenizers[0] as? ByteLevel else { return }
    preTokenizers = [step.addingPrefixSpace(adds)]
    cover("prefix \(adds)")
  }

  /// Sets how offsets are trimmed, as RoBERTa's class does.
  /// - Parameters:
  ///   - step: "post_processor" of `tokenizer.json`.
  ///   - adds: whether a space is put before a text.
  mutating func setTrimming(
    _ step: ObjectReader?, _ settings: ObjectReader, addsPrefixSpace adds: Bool
  ) throws(BertQAError) {
    guard ["RobertaProcessing", "ByteLevel"].contains(try step?.string("type")) else { return }
    let trims = try settings.bool("trim_offsets") ?? true
    postProcessor.trimming = trims ? [adds] : []
    cover("trimming \(trims)")
  }

  /// Reads lines of two pieces with a space between them, except those that begin with "#version".
  private static func merges(
    _ bytes: UnsafeBufferPointer<UInt8>, file: String, _ monitor: CallMonitor?
  ) throws(BertQAError) -> [(left: [UInt8], right: [UInt8])] {
    // Two arrays for each line of at least four bytes.
    try Memory.require(40 * bytes.count)
    var merges: [(left: [UInt8], right: [UInt8])] = []
    var number = 0
    for var line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if number % checkInterval == 0 { try monitor?.check() }
      number += 1
      if line.last == 0x0D { line.removeLast() }
      if line.starts(with: "#version".utf8) || line.isEmpty && line.endIndex == bytes.endIndex { continue }
      guard let pair = BytePairModel.pair(line) else {
        throw BertQAError(
          .invalidModel, "\(file): line \(number) is not two pieces with a space between them")
      }
      merges.append(pair)
    }
    return merges
  }
}
