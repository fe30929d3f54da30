/// What a model is for, in the numbering of `bertqa_task`.
public enum ModelTask: Int32, Sendable, CaseIterable, CustomStringConvertible {
  case answer = 1
  case classify = 2
  case embed = 3
  /// Predict the next word of a sequence.
  case predict = 4
  /// Find the entities of a text: labels of its tokens.
  case entities = 5

  /// The name that the command line, Python and messages use.
  public var description: String {
    switch self {
    case .answer: "answer"
    case .classify: "classify"
    case .embed: "embed"
    case .predict: "predict"
    case .entities: "entities"
    }
  }

  /// What a model of the task can do, as messages put it.
  var purpose: String {
    switch self {
    case .answer: "answer questions"
    case .classify: "classify"
    case .embed: "embed texts"
    case .predict: "predict along a sequence"
    case .entities: "find entities"
    }
  }
}
