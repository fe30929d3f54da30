extension OutputDirectory {
  /// Writes what belongs to a quantized model beside its weights: `config.json` with our key added,
  /// the tokenizer's files as they are; of a BERT's `tokenizer_config.json` as it is or made.
  func writeConfiguration(of model: LoadedModel, threshold: Float?) throws(BertQAError) {
    var config = model.source
    var own = try config.reader("bertqa")?.object ?? JSON.Object()
    own["weight_format"] = .string("int8")
    if model.configuration.architecture.task == .answer {
      own["no_answer_threshold"] = .number(
        JSON.Number(threshold ?? model.configuration.noAnswerThreshold))
    }
    model.embedding?.write(to: &own)
    config.object["bertqa"] = .object(own)
    try write(JSON.object(config.object).text + "\n", to: "config.json")

    for (name, file) in model.tokenizer.pipelineFiles { try copy(file, to: name) }
    guard let files = model.tokenizer.wordPiece else { return }
    let vocabulary = files.vocabularyFile
    try copy(vocabulary, to: vocabulary.path.hasSuffix(".json") ? "tokenizer.json" : "vocab.txt")
    if let settings = files.settingsFile {
      try copy(settings, to: "tokenizer_config.json")
    } else {
      // `vocab.txt` alone would be read with the defaults, which tokenizer.json may have overridden.
      try write(files.configuration.json.text + "\n", to: "tokenizer_config.json")
    }
  }

  private func copy(_ file: ModelFile, to name: String) throws(BertQAError) {
    try file.withBytes { bytes throws(BertQAError) in
      try write(UnsafeRawBufferPointer(bytes), to: name)
    }
  }
}

extension JSON.Number {
  /// The number of fewest digits that reads back as `value`, which must be finite.
  fileprivate init(_ value: Float) {
    self.init(double: Double("\(value)") ?? Double(value), integer: nil)
  }
}

extension TokenizerConfiguration {
  /// The configuration as `tokenizer_config.json` has it.
  fileprivate var json: JSON {
    var object = JSON.Object()
    object["tokenizer_class"] = .string("BertTokenizer")
    object["do_lower_case"] = .bool(lowercase)
    object["strip_accents"] = stripAccents.map(JSON.bool) ?? .null
    object["tokenize_chinese_chars"] = .bool(tokenizeChineseCharacters)
    object["unk_token"] = .string(unkToken)
    object["sep_token"] = .string(sepToken)
    object["pad_token"] = .string(padToken)
    object["cls_token"] = .string(clsToken)
    object["mask_token"] = .string(maskToken)
    return .object(object)
  }
}
