extension EmbeddingConfiguration {
  /// Reads `modules.json` and the files that it names, `sentence_bert_config.json`, and the tokenizer's
  /// "model_max_length". Each may be absent.
  mutating func readSentenceTransformers(
    _ directory: ModelDirectory, _ model: ModelConfiguration, _ tokenizer: TokenizerFiles
  ) throws(BertQAError) {
    var length: Double?
    if let own = try Self.reader("tokenizer_config.json", in: directory) {
      length = try own.number("model_max_length")
      if length == nil { length = try own.number("max_len") }
    }
    // The first file that is there counts.
    for name in [
      "sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json",
      "sentence_camembert_config.json", "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
      "sentence_xlnet_config.json",
    ] {
      guard let own = try Self.reader(name, in: directory) else { continue }
      length = try own.number("max_seq_length") ?? length
      lowercases = try own.bool("do_lower_case") == true && !tokenizer.lowercases
      break
    }
    lowerLength(to: length)
    prompts = try EmbeddingPrompts(directory.inFolder(""))
    let modules = directory.inFolder("")
    if !modules.exists("modules.json"), modules.exists(LateInteraction.fileName) {
      try readColBERT(modules)
    } else {
      try readModules(modules, model, in: directory.folder)
    }
  }

  /// Reads what ColBERT's authors write: a linear layer in the model's own weights.
  private mutating func readColBERT(_ directory: ModelDirectory) throws(BertQAError) {
    lateInteraction = try LateInteraction.colbert(directory, mask: directory.maskToken())
    let file = try directory.object(in: LateInteraction.fileName)
    let width = try file.required("dim", file.integer("dim", in: 1...(1 << 16)))
    dense = [Dense(name: "", outs: width, hasBias: false, activation: .identity)]
  }

  /// nil if there is no such file.
  private static func reader(
    _ file: String, in directory: ModelDirectory
  ) throws(BertQAError) -> ObjectReader? {
    directory.exists(file) ? try directory.object(in: file) : nil
  }

  /// - Parameter encoderFolder: the folder of the encoder's files; "": the directory itself.
  private mutating func readModules(
    _ directory: ModelDirectory, _ model: ModelConfiguration, in encoderFolder: String
  ) throws(BertQAError) {
    guard directory.exists("modules.json") else { return }
    let path = directory.path(of: "modules.json")
    var kinds: [String] = []
    for module in try directory.modules() {
      // "sentence_transformers.models.Pooling"; the package part differs between versions.
      let type = try module.string("type") ?? ""
      let names = type.split(separator: ".")
      let isPylate = names.first == "pylate" && names.last == "Dense"
      // jinaai's, which chooses the adapters of a task.
      let isOwn = type == "custom_st.Transformer" && model.adapters != nil
      guard names.count < 2 || names[0] == "sentence_transformers" || isPylate || isOwn else {
        throw BertQAError(
          .unsupported,
          "\(path): module \(quoted(type)) is not one of sentence_transformers: the checkpoint has code of its own, "
            + "which libbertqa does not run")
      }
      let kind = String(names.last ?? "")
      guard kind != "MultiVectorMask" else {
        throw BertQAError(
          .unsupported,
          "\(path): module \(quoted(type)): a model of late interaction as sentence-transformers' MultiVectorEncoder saves "
            + "it; supported are the forms of PyLate and of ColBERT's authors")
      }
      let folder = try module.string("path") ?? ""
      guard folder.isEmpty || !folder.contains("/") && ModelDirectory.isPlain(folder) else {
        throw module.mismatch("path", .string(folder), expected: "the name of a directory beside it")
      }
      let own = try Self.reader(folder.isEmpty ? "config.json" : "\(folder)/config.json", in: directory)
      kinds.append(kind)
      switch (kind, own) {
      case ("Transformer", _) where folder == encoderFolder: break
      case ("MLMTransformer", _) where folder == encoderFolder: kinds[kinds.count - 1] = "Transformer"
      case ("SpladePooling", let own?): sparse = try SparsePooling(own)
      case ("Pooling", let own?):
        prompts.isPooled = try own.bool("include_prompt") ?? true
        pooling = try Self.pooling(own, model)
      case ("Dense", let own?):
        dense.append(try Self.dense(own, folder, directory, ofTokens: isPylate))
        if isPylate {
          lateInteraction = try LateInteraction.pylate(directory, mask: directory.maskToken())
        }
      case ("Normalize", _): normalizes = try Self.isOfSentences(own)
      default:
        throw BertQAError(
          .unsupported,
          "\(path): module \(quoted(type)) at \(quoted(folder)); supported: Transformer at \"\"; Pooling, "
            + "Dense and SpladePooling with a config.json; Normalize")
      }
    }
    let order =
      lateInteraction != nil
      ? ["Transformer"] : sparse != nil ? ["Transformer", "SpladePooling"] : ["Transformer", "Pooling"]
    let denses = order + dense.map { _ in "Dense" }
    guard kinds == (sparse == nil ? denses : order) || hasTextVectors && kinds == denses + ["Normalize"]
    else {
      throw BertQAError(
        .unsupported,
        "\(path): modules \(kinds.prefix(8).map(quoted).joined(separator: ", ")); supported: Transformer, "
          + "Pooling, and then perhaps Dense and Normalize; or Transformer and a Dense of PyLate or SpladePooling"
      )
    }
  }

  private static func dense(
    _ own: ObjectReader, _ folder: String, _ directory: ModelDirectory, ofTokens: Bool
  ) throws(BertQAError) -> Dense {
    if !ofTokens { _ = try isOfSentences(own) }
    try own.require("use_residual", .bool(false))
    var dense = try Dense(folder, own)
    dense.weights = directory.inFolder(folder)
    return dense
  }

  private static func pooling(
    _ own: ObjectReader, _ model: ModelConfiguration
  ) throws(BertQAError) -> TokenPooling {
    for key in ["word_embedding_dimension", "embedding_dimension"] {
      guard let width = try own.number(key), width != Double(model.hiddenSize) else { continue }
      throw BertQAError(
        .invalidModel,
        "\(own.file): \(quoted(key)) is \(width), but the model's hidden size is \(model.hiddenSize)")
    }
    let key = "pooling_mode"
    if own.value(key) != nil { return try pooling(own, key) }
    // In the order of sentence-transformers.
    let old =
      [
        "cls_token": TokenPooling.Mode.first, "max_tokens": .max, "mean_tokens": .mean,
        "mean_sqrt_len_tokens": .meanOfRoot, "weightedmean_tokens": .weighted, "lasttoken": .last,
      ] as KeyValuePairs
    for member in own.object.members
    where member.key.hasPrefix("\(key)_") && member.value == .bool(true) {
      guard !old.contains(where: { "\(key)_\($0.key)" == member.key }) else { continue }
      throw BertQAError(
        .unsupported,
        "\(own.file): \(quoted(member.key)) is not supported; supported: \(old.map(\.key).joined(separator: ", "))"
      )
    }
    var modes: [TokenPooling.Mode] = []
    for (name, mode) in old where try own.bool("\(key)_\(name)") == true { modes.append(mode) }
    return modes.isEmpty ? .mean : TokenPooling(modes: modes)
  }

  /// Returns true; throws if a module reads or writes anything but the sentence's vector.
  private static func isOfSentences(_ own: ObjectReader?) throws(BertQAError) -> Bool {
    for key in ["module_input_name", "module_output_name"] {
      guard let own, let name = try own.string(key), name != "sentence_embedding" else { continue }
      throw BertQAError(
        .unsupported,
        "\(own.file): \(quoted(key)) is \(quoted(name)); only \"sentence_embedding\" is supported")
    }
    return true
  }
}

extension ModelDirectory {
  /// Returns the spelling of the tokenizer's mask.
  fileprivate func maskToken() throws(BertQAError) -> String {
    for name in ["tokenizer_config.json", "special_tokens_map.json"] where exists(name) {
      if let token = try Pipeline.token(object(in: name), "mask_token") { return token.content }
    }
    return "[MASK]"
  }

  /// Reads `modules.json`.
  func modules() throws(BertQAError) -> [ObjectReader] {
    let path = path(of: "modules.json")
    guard
      case .array(let modules) = try JSONParser.parse(
        file("modules.json", limit: ModelFile.configurationLimit), monitor)
    else {
      throw BertQAError(.invalidModel, "\(path): expected a JSON array")
    }
    var readers: [ObjectReader] = []
    for case .object(let object) in modules { readers.append(ObjectReader(file: path, object: object)) }
    return readers
  }

  /// Returns the directory of the encoder's files: early sentence-transformers wrote them into a folder, `0_Transformer`.
  func ofEncoder() throws(BertQAError) -> ModelDirectory {
    guard !exists("config.json"), exists("modules.json"), let first = try modules().first,
      try first.string("type")?.hasSuffix(".Transformer") == true, let folder = try first.string("path"),
      !folder.contains("/"), exists("\(folder)/config.json")
    else { return self }
    return inFolder(folder)
  }
}
