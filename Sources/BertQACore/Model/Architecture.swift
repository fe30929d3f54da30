/// The model classes this library runs, by their names in Hugging Face's `config.json`.
enum Architecture: String, Sendable, CaseIterable {
  case bertForQuestionAnswering = "BertForQuestionAnswering"
  case distilBertForQuestionAnswering = "DistilBertForQuestionAnswering"

  /// Encoders differ in the names of their settings and tensors.
  enum Family: Sendable {
    case bert
    case distilBert
  }

  var family: Family {
    switch self {
    case .bertForQuestionAnswering: .bert
    case .distilBertForQuestionAnswering: .distilBert
    }
  }

  static var supportedNames: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
