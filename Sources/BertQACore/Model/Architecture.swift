/// The model classes this library runs, by their names in `config.json`: Hugging Face's for encoders, and our
/// own for models that have none there. The one place that says what each is made of and what it is for.
enum Architecture: String, Sendable, CaseIterable {
  case bertForQuestionAnswering = "BertForQuestionAnswering"
  case distilBertForQuestionAnswering = "DistilBertForQuestionAnswering"
  case wordCountClassifier = "WordCountClassifier"
  case bertForSequenceClassification = "BertForSequenceClassification"
  case distilBertForSequenceClassification = "DistilBertForSequenceClassification"
  case bertForTokenClassification = "BertForTokenClassification"
  case distilBertForTokenClassification = "DistilBertForTokenClassification"
  case bertModel = "BertModel"
  case distilBertModel = "DistilBertModel"
  case lstmLanguageModel = "LSTMLanguageModel"
  case gruLanguageModel = "GRULanguageModel"

  /// What a model is made of, which decides what loads and runs it.
  enum Kind: Sendable {
    case encoder(EncoderFamily, HeadKind)
    case wordCounts
    case recurrent
  }

  var kind: Kind {
    switch self {
    case .bertForQuestionAnswering: .encoder(.bert, .spans)
    case .distilBertForQuestionAnswering: .encoder(.distilBert, .spans)
    case .bertForSequenceClassification: .encoder(.bert, .labels)
    case .distilBertForSequenceClassification: .encoder(.distilBert, .labels)
    case .bertForTokenClassification: .encoder(.bert, .tokenLabels)
    case .distilBertForTokenClassification: .encoder(.distilBert, .tokenLabels)
    case .bertModel: .encoder(.bert, .vectors)
    case .distilBertModel: .encoder(.distilBert, .vectors)
    case .wordCountClassifier: .wordCounts
    case .lstmLanguageModel, .gruLanguageModel: .recurrent
    }
  }

  var task: ModelTask {
    switch kind {
    case .encoder(_, .spans): .answer
    case .encoder(_, .labels), .wordCounts: .classify
    case .encoder(_, .tokenLabels): .entities
    case .encoder(_, .vectors): .embed
    case .recurrent: .predict
    }
  }

  /// The first known one of `config.json`'s "architectures".
  init(_ reader: ObjectReader) throws(BertQAError) {
    var names: [String] = []
    if case .array(let elements)? = reader.value("architectures") {
      for case .string(let name) in elements { names.append(name) }
    }
    if let supported = names.lazy.compactMap(Architecture.init).first {
      self = supported
      return
    }
    let found =
      names.isEmpty
      ? "no \"architectures\"" : "architecture \(names.prefix(4).map(quoted).joined(separator: ", "))"
    let supported = Self.allCases.map(\.rawValue).joined(separator: ", ")
    throw BertQAError(.unsupported, "\(reader.file): \(found); supported: \(supported)")
  }
}
