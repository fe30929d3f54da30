extension OutputDirectory {
  /// Writes the files next to a quantized model's weights: `config.json` or `gliner_config.json` with our key added,
  /// and the tokenizer's files unchanged. For a BERT model without a `tokenizer_config.json` it makes one.
  func writeConfiguration(of model: LoadedModel, threshold: Float?) throws(BertQAError) {
    var config = model.prompted?.source ?? model.source
    var own = try config.reader("bertqa")?.object ?? JSON.Object()
    own["weight_format"] = .string("int8")
    if model.configuration.architecture.task == .answer {
      own["no_answer_threshold"] = .number(
        JSON.Number(threshold ?? model.configuration.noAnswerThreshold))
    }
    model.embedding?.write(to: &own)
    config.object["bertqa"] = .object(own)
    if model.prompted == nil {
      try write(JSON.object(config.object).text + "\n", to: "config.json")
    } else {
      // They may come from another directory.
      config.object["encoder_config"] = .object(model.source.object)
      try write(JSON.object(config.object).text + "\n", to: PromptedEntities.fileName)
    }

    for (name, file) in model.tokenizer.files { try copy(file, to: name) }
    if let settings = model.tokenizer.settings {
      // A reader would use the defaults for `vocab.txt` alone, but tokenizer.json may have overridden them.
      var object = settings.json
      if !model.configuration.hasSegmentTypes {
        object["model_input_names"] = .array([.string("input_ids"), .string("attention_mask")])
      }
      try write(JSON.object(object).text + "\n", to: "tokenizer_config.json")
    }
  }

  private func copy(_ file: ModelFile, to name: String) throws(BertQAError) {
    try file.withBytes { bytes throws(BertQAError) in
      try write(UnsafeRawBufferPointer(bytes), to: name)
    }
  }
}

extension JSON.Number {
  /// The number with the fewest digits that reads back as `value`, which must be finite.
  fileprivate init(_ value: Float) {
    self.init(double: Double("\(value)") ?? Double(value), integer: nil)
  }
}

extension TokenizerConfiguration {
  /// The configuration in the form of `tokenizer_config.json`.
  fileprivate var json: JSON.Object {
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
    return object
  }
}
