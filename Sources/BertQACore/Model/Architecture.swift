/// A model class that this library runs, by its name in `config.json`. For encoders it is Hugging Face's
/// name: that of a family, then that of a head. Models that Hugging Face does not have use our own names.
struct Architecture: Sendable, Equatable {
  /// For example "BertForQuestionAnswering".
  let name: String
  let kind: Kind

  /// The composition of a model, which determines the code that loads and runs it.
  enum Kind: Sendable, Equatable {
    case encoder(EncoderFamily, HeadKind)
    /// An encoder whose layers for entities also read the labels: `PromptedEntities`.
    case prompted(EncoderFamily)
    case wordCounts
    case recurrent
    /// A table of vectors.
    case table
    /// A linear layer on the vectors of an embedding model.
    case linear
  }

  static let wordCountClassifier = Architecture(name: "WordCountClassifier", kind: .wordCounts)
  static let embeddingClassifier = Architecture(name: "EmbeddingClassifier", kind: .linear)
  /// The file of a classifier of vectors that names it, next to the files of its embedding model.
  static let embeddingClassifierFile = "classifier/config.json"
  static let lstmLanguageModel = Architecture(name: "LSTMLanguageModel", kind: .recurrent)
  static let gruLanguageModel = Architecture(name: "GRULanguageModel", kind: .recurrent)

  /// model2vec's name.
  static let model2vec = Architecture(name: "StaticModel", kind: .table)
  /// The name of sentence-transformers' module.
  static let staticEmbedding = Architecture(name: "StaticEmbedding", kind: .table)

  /// The architectures that are not encoders.
  static let others = [
    wordCountClassifier, embeddingClassifier, lstmLanguageModel, gruLanguageModel, model2vec, staticEmbedding,
  ]

  /// Every family with every head, and the other architectures.
  static let all =
    HeadKind.allCases.flatMap { head in
      EncoderFamily.all.flatMap { family in
        family.classPrefixes.map { Architecture(name: $0 + head.classSuffix, kind: .encoder(family, head)) }
      }
    } + others

  /// Returns the first class of a family with a head.
  static func encoder(_ family: EncoderFamily, _ head: HeadKind) -> Architecture {
    Architecture(
      name: (family.classPrefixes.first ?? "") + head.classSuffix, kind: .encoder(family, head))
  }

  /// The family and the head of a model with an encoder.
  var encoder: (family: EncoderFamily, head: HeadKind)? {
    switch kind {
    case .encoder(let family, let head): (family, head)
    case .prompted(let family): (family, .vectors)
    case .wordCounts, .recurrent, .table, .linear: nil
    }
  }

  var task: ModelTask {
    switch kind {
    case .encoder(_, let head): head.task
    case .prompted: .entities
    case .wordCounts, .linear: .classify
    case .recurrent: .predict
    case .table: .embed
    }
  }
}

extension HeadKind {
  /// The suffix of the names of transformers' classes with this head.
  var classSuffix: String {
    switch self {
    case .spans: "ForQuestionAnswering"
    case .labels: "ForSequenceClassification"
    case .tokenLabels: "ForTokenClassification"
    case .vectors: "Model"
    }
  }

  var task: ModelTask {
    switch self {
    case .spans: .answer
    case .labels: .classify
    case .tokenLabels: .entities
    case .vectors: .embed
    }
  }
}

// MARK: - Models without a tokenizer

extension Architecture {
  /// The error for a call that needs tokens, on a model that reads words.
  static func readsWords(_ name: String, in directory: String) -> BertQAError {
    BertQAError(
      .wrongModel, "\(directory) has the architecture \(name), which reads words, not tokens")
  }

  /// Throws if `config.json` names a model that reads words.
  static func checkReadsTokens(_ directory: ModelDirectory) throws(BertQAError) {
    guard directory.exists("config.json") else { return }
    let names = names(in: try directory.object(in: "config.json"))
    for model in [wordCountClassifier, lstmLanguageModel, gruLanguageModel] where names.contains(model.name) {
      throw readsWords(model.name, in: directory.name)
    }
  }
}

// MARK: - Reading

extension Architecture {
  /// Reads the first known name in "architectures" of `config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    let names = Self.names(in: reader)
    if names.contains(Self.colbert), let type = try reader.string("model_type"),
      let (family, _) = Self.family(type: type)
    {
      self.init(name: Self.colbert, kind: .encoder(family, .vectors))
      return
    }
    for name in names {
      guard let known = Self.all.first(where: { $0.name == name }) ?? Self.withoutItsHead(name) else {
        continue
      }
      self = try known.byPositions(reader)
      return
    }
    let found =
      names.isEmpty
      ? "no \"architectures\"" : "architecture \(names.prefix(4).map(quoted).joined(separator: ", "))"
    throw BertQAError(.unsupported, "\(reader.file): \(found); supported: \(Self.summary)")
  }

  /// Also determines the architecture of an encoder whose `config.json` names none: the family by "model_type", and
  /// the head by the tensors.
  init(_ reader: ObjectReader, _ directory: ModelDirectory) throws(BertQAError) {
    guard Self.names(in: reader).isEmpty, let type = try reader.string("model_type"),
      let (family, prefix) = Self.family(type: type)
    else {
      try self.init(reader)
      return
    }
    let checkpoint = try Checkpoint(directory)
    let modules = family.tensors
    var head = HeadKind.vectors
    if checkpoint.has("\(modules.questionAnswering).weight"), modules.questionAnswering != modules.classifier
    {
      head = .spans
    } else {
      for name in [modules.classifier, modules.tokenClassifier] where checkpoint.has("\(name).weight") {
        throw BertQAError(
          .unsupported,
          "\(reader.file): no \"architectures\", and the tensor \(quoted("\(name).weight")) does not tell which "
            + "classifier it belongs to; set \"architectures\" to [\(quoted(prefix + HeadKind.labels.classSuffix))] or "
            + "[\(quoted(prefix + HeadKind.tokenLabels.classSuffix))]")
      }
    }
    self.init(name: prefix + head.classSuffix, kind: .encoder(family, head))
  }

  /// Returns jinaai's family if positions are rotary: its code gives it the class names of XLM-RoBERTa.
  private func byPositions(_ reader: ObjectReader) throws(BertQAError) -> Architecture {
    guard case .encoder(.xlmRoberta, .vectors) = kind,
      try reader.string("position_embedding_type") == "rotary"
    else { return self }
    return Architecture(name: name, kind: .encoder(.jinaV3, .vectors))
  }

  /// The class of ColBERT's authors, for an encoder of any family.
  private static let colbert = "HF_ColBERT"

  private static func names(in reader: ObjectReader) -> [String] {
    var names: [String] = []
    if case .array(let elements)? = reader.value("architectures") {
      for case .string(let name) in elements { names.append(name) }
    }
    return names
  }

  /// The suffixes of classes for pretraining, whose encoders give vectors. Their heads are ignored.
  private static let pretraining = ["ForMaskedLM", "ForPreTraining", "LMHeadModel"]

  /// Returns the encoder of a class for pretraining, under the class's name.
  private static func withoutItsHead(_ name: String) -> Architecture? {
    for family in EncoderFamily.all {
      for prefix in family.classPrefixes where pretraining.contains(where: { name == prefix + $0 }) {
        return Architecture(name: name, kind: .encoder(family, .vectors))
      }
    }
    return nil
  }

  /// Returns the family of a "model_type", and the prefix of its class names: "XLMRoberta" for "xlm-roberta".
  static func family(type: String) -> (EncoderFamily, prefix: String)? {
    let plain = type.filter { $0 != "-" && $0 != "_" }
    for family in EncoderFamily.all {
      for prefix in family.classPrefixes where prefix.lowercased() == plain { return (family, prefix) }
    }
    return nil
  }

  /// All names in the shell's short form: "{Bert,DistilBert}{ForQuestionAnswering,Model}, …".
  static var summary: String {
    let encoders =
      braced(EncoderFamily.all.flatMap(\.classPrefixes))
      + braced(HeadKind.allCases.map(\.classSuffix) + pretraining)
    return ([encoders, colbert] + others.map(\.name)).joined(separator: ", ")
  }

  /// Returns the names of all architectures for a task, with "…" in place of an encoder family.
  static func names(for task: ModelTask) -> String {
    let heads = HeadKind.allCases.filter { $0.task == task }.map { "…\($0.classSuffix)" }
    let names = heads + others.filter { $0.task == task }.map(\.name)
    return names.joined(separator: ", ")
  }

  private static func braced(_ parts: [String]) -> String { "{\(parts.joined(separator: ","))}" }
}
