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
      truncatesStart = try Self.truncatesStart(own)
    }
    // The first existing file counts.
    for name in [
      "sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json",
      "sentence_camembert_config.json", "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
      "sentence_xlnet_config.json",
    ] {
      guard let own = try Self.reader(name, in: directory) else { continue }
      try Self.refuseArguments(own)
      length = try own.number("max_seq_length") ?? length
      lowercases = try own.bool("do_lower_case") == true && !tokenizer.lowercases
      break
    }
    lowerLength(to: length)
    let modules = directory.inFolder("")
    prompts = try EmbeddingPrompts(modules)
    if !modules.exists("modules.json"), modules.exists(LateInteraction.fileName) {
      try readColBERT(modules)
    } else {
      try readModules(modules, model, tokenizer, in: directory.folder)
    }
  }

  /// Reads what ColBERT's authors write: a linear layer in the model's own weights.
  private mutating func readColBERT(_ directory: ModelDirectory) throws(BertQAError) {
    lateInteraction = try LateInteraction.colbert(directory, mask: directory.maskToken())
    let file = try directory.object(in: LateInteraction.fileName)
    let width = try file.requiredInteger("dim", in: 1...(1 << 16))
    dense = [Dense(name: "", outs: width, hasBias: false, activation: .identity)]
  }

  /// Throws if `sentence_bert_config.json` has arguments for transformers that change results.
  private static func refuseArguments(_ own: ObjectReader) throws(BertQAError) {
    // Those that change nothing.
    let ignored: Set = [
      "attn_implementation", "cache_dir", "code_revision", "dtype", "local_files_only", "padding_side",
      "revision", "token", "torch_dtype", "trust_remote_code", "unpad_inputs", "use_fast",
      "use_memory_efficient_attention",
    ]
    for key in [
      "config_args", "config_kwargs", "tokenizer_args", "processor_kwargs", "processing_kwargs",
    ] {
      guard let arguments = try own.reader(key)?.object.members,
        let found = arguments.first(where: { !ignored.contains($0.key) })
      else { continue }
      throw BertQAError(
        .unsupported,
        "\(own.file): \(quoted(key)) has \(quoted(found.key)), which libbertqa does not read there: move it to "
          + "\(key.hasPrefix("config") ? "config.json" : "tokenizer_config.json")")
    }
  }

  /// nil if there is no such file.
  private static func reader(
    _ file: String, in directory: ModelDirectory
  ) throws(BertQAError) -> ObjectReader? {
    directory.exists(file) ? try directory.object(in: file) : nil
  }

  /// - Parameter encoderFolder: the folder of the encoder's files; "": the directory itself.
  private mutating func readModules(
    _ directory: ModelDirectory, _ model: ModelConfiguration, _ tokenizer: TokenizerFiles,
    in encoderFolder: String
  ) throws(BertQAError) {
    guard directory.exists("modules.json") else { return }
    let path = directory.path(of: "modules.json")
    var kinds: [String] = []
    let modules = try directory.modules()
    // The modules after the encoder change tokens' vectors, not texts'.
    var isMultiVector = false
    for module in modules where try module.string("type")?.hasSuffix(".MultiVectorMask") == true {
      isMultiVector = true
    }
    for module in modules {
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
      // It has an effect in training only.
      if kind == "Dropout" { continue }
      let folder = try ModelDirectory.folder(of: module)
      let own = try Self.reader(folder.isEmpty ? "config.json" : "\(folder)/config.json", in: directory)
      // Scaling a vector of length 1 changes nothing.
      if kind != "Normalize" || kinds.last != kind { kinds.append(kind) }
      switch (kind, own) {
      case ("Transformer", _) where folder == encoderFolder: break
      case ("MLMTransformer", _) where folder == encoderFolder: kinds[kinds.count - 1] = "Transformer"
      case ("SpladePooling", let own?): sparse = try SparsePooling(own)
      case ("Pooling", let own?):
        prompts.isPooled = try own.bool("include_prompt") ?? true
        pooling = try Self.pooling(own, model)
      case ("Dense", let own?):
        if !isPylate { try Self.check(own, of: directory, isOfTokens: isMultiVector) }
        var layer = try Dense(folder, own)
        layer.weights = directory.inFolder(folder)
        dense.append(layer)
        if isPylate {
          lateInteraction = try LateInteraction.pylate(directory, mask: directory.maskToken())
        }
      case ("MultiVectorMask", let own?):
        lateInteraction = try LateInteraction.multiVector(
          own,
          Self.reader("sentence_bert_config.json", in: directory.inFolder(encoderFolder))
            ?? ObjectReader(file: path, object: JSON.Object()),
          &prompts, length: maxSequenceLength, mask: directory.maskToken(), isPiece: tokenizer.hasPiece)
      case ("Normalize", _):
        try Self.check(own, of: directory, isOfTokens: isMultiVector)
        normalizes = !isMultiVector
      default:
        throw BertQAError(
          .unsupported,
          "\(path): module \(quoted(type)) at \(quoted(folder)); supported: Transformer at \"\"; Pooling, "
            + "Dense, MultiVectorMask and SpladePooling with a config.json; Normalize; Dropout")
      }
    }
    let order =
      lateInteraction != nil
      ? ["Transformer"] : sparse != nil ? ["Transformer", "SpladePooling"] : ["Transformer", "Pooling"]
    let denses = order + dense.map { _ in "Dense" }
    let expected =
      isMultiVector ? denses + ["MultiVectorMask", "Normalize"] : sparse == nil ? denses : order
    guard kinds == expected || hasTextVectors && kinds == denses + ["Normalize"]
    else {
      throw BertQAError(
        .unsupported,
        "\(path): modules \(kinds.prefix(8).map(quoted).joined(separator: ", ")); supported: Transformer, "
          + "Pooling, and then perhaps Dense and Normalize; Transformer, perhaps Dense, MultiVectorMask and Normalize; or "
          + "Transformer and a Dense of PyLate or SpladePooling"
      )
    }
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

  /// Throws if a module reads or writes anything but the sentence's vector, or, in a model of late interaction,
  /// anything but the tokens' vectors.
  /// - Parameter own: the module's `config.json`.
  private static func check(
    _ own: ObjectReader?, of directory: ModelDirectory, isOfTokens: Bool
  ) throws(BertQAError) {
    let usual = "sentence_embedding"
    let expected = isOfTokens ? "token_embeddings" : usual
    for key in ["module_input_name", "module_output_name"] {
      let name = try own?.string(key) ?? usual
      guard name != expected else { continue }
      throw BertQAError(
        .unsupported,
        "\(own?.file ?? directory.path(of: "modules.json")): \(quoted(key)) is \(quoted(name)); only "
          + "\(quoted(expected)) is supported")
    }
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

  /// Returns the directory of the encoder's files, which early sentence-transformers wrote to a folder,
  /// `0_Transformer`.
  func ofEncoder() throws(BertQAError) -> ModelDirectory {
    guard !exists("config.json"), exists("modules.json"), let first = try modules().first,
      try first.string("type")?.hasSuffix(".Transformer") == true
    else { return self }
    let folder = inFolder(try Self.folder(of: first))
    return folder.exists("config.json") ? folder : self
  }

  /// Returns the folder that an element of `modules.json` names, `1_Pooling` for `./1_Pooling/`; "" for the directory
  /// itself.
  static func folder(of module: ObjectReader) throws(BertQAError) -> String {
    let path = try module.string("path") ?? ""
    let parts = path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init).filter { $0 != "." }
    guard path.utf8.first != UInt8(ascii: "/"), parts.count < 2, parts.allSatisfy({ isPlain(String($0)) })
    else {
      throw module.mismatch("path", .string(path), expected: "the name of a directory beside it")
    }
    return String(parts.first ?? "")
  }

  /// As `ofEncoder`. Throws if there is an adapter, which transformers would apply to the model.
  func ofModel() throws(BertQAError) -> ModelDirectory {
    let directory = try ofEncoder()
    let name = "adapter_config.json"
    guard directory.exists(name) else { return directory }
    throw BertQAError(
      .unsupported,
      "\(directory.path(of: name)): an adapter of PEFT, which libbertqa does not apply: save the model that "
        + "merge_and_unload returns")
  }
}
