/// The model classes this library runs, by their names in `config.json`: Hugging Face's for encoders, and our
/// own for models that have none there.
enum Architecture: String, Sendable, CaseIterable {
  case bertForQuestionAnswering = "BertForQuestionAnswering"
  case distilBertForQuestionAnswering = "DistilBertForQuestionAnswering"
  case wordCountClassifier = "WordCountClassifier"
  case bertForSequenceClassification = "BertForSequenceClassification"
  case distilBertForSequenceClassification = "DistilBertForSequenceClassification"
  case bertModel = "BertModel"
  case distilBertModel = "DistilBertModel"
  case lstmLanguageModel = "LSTMLanguageModel"
  case gruLanguageModel = "GRULanguageModel"

  /// Encoders differ in the names of their settings and tensors.
  enum Family: Sendable {
    case bert
    case distilBert
  }

  /// nil for models that are no encoders.
  var family: Family? {
    switch self {
    case .bertForQuestionAnswering, .bertForSequenceClassification, .bertModel: .bert
    case .distilBertForQuestionAnswering, .distilBertForSequenceClassification, .distilBertModel:
      .distilBert
    case .wordCountClassifier, .lstmLanguageModel, .gruLanguageModel: nil
    }
  }

  var task: ModelTask {
    switch self {
    case .bertForQuestionAnswering, .distilBertForQuestionAnswering: .answer
    case .bertForSequenceClassification, .distilBertForSequenceClassification, .wordCountClassifier: .classify
    case .bertModel, .distilBertModel: .embed
    case .lstmLanguageModel, .gruLanguageModel: .predict
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
