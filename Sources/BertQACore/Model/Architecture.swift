/// A model class that this library runs, by its name in `config.json`. For encoders it is Hugging Face's
/// name: that of a family, then that of a head. Models that Hugging Face does not have use our own names.
struct Architecture: Sendable, Equatable {
  /// For example "BertForQuestionAnswering".
  let name: String
  let kind: Kind

  /// The composition of a model, which determines the code that loads and runs it.
  enum Kind: Sendable, Equatable {
    case encoder(EncoderFamily, HeadKind)
    case wordCounts
    case recurrent
  }

  static let wordCountClassifier = Architecture(name: "WordCountClassifier", kind: .wordCounts)
  static let lstmLanguageModel = Architecture(name: "LSTMLanguageModel", kind: .recurrent)
  static let gruLanguageModel = Architecture(name: "GRULanguageModel", kind: .recurrent)

  /// The architectures that are not encoders.
  static let others = [wordCountClassifier, lstmLanguageModel, gruLanguageModel]

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

  var task: ModelTask {
    switch kind {
    case .encoder(_, let head): head.task
    case .wordCounts: .classify
    case .recurrent: .predict
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

// MARK: - Reading

extension Architecture {
  /// Reads the first known name in "architectures" of `config.json`.
  init(_ reader: ObjectReader) throws(BertQAError) {
    var names: [String] = []
    if case .array(let elements)? = reader.value("architectures") {
      for case .string(let name) in elements { names.append(name) }
    }
    for name in names {
      guard let known = Self.all.first(where: { $0.name == name }) else { continue }
      self = known
      return
    }
    let found =
      names.isEmpty
      ? "no \"architectures\"" : "architecture \(names.prefix(4).map(quoted).joined(separator: ", "))"
    throw BertQAError(.unsupported, "\(reader.file): \(found); supported: \(Self.summary)")
  }

  /// All names in the shell's short form: "{Bert,DistilBert}{ForQuestionAnswering,Model}, …".
  static var summary: String {
    let encoders =
      braced(EncoderFamily.all.flatMap(\.classPrefixes)) + braced(HeadKind.allCases.map(\.classSuffix))
    return ([encoders] + others.map(\.name)).joined(separator: ", ")
  }

  private static func braced(_ parts: [String]) -> String { "{\(parts.joined(separator: ","))}" }
}
