/// The task of a model, with the numbers of `bertqa_task`.
public enum ModelTask: Int32, Sendable, CaseIterable, CustomStringConvertible {
  case answer = 1
  case classify = 2
  case embed = 3
  /// Predicts the next word of a sequence.
  case predict = 4
  /// Finds the entities of a text by labels of its tokens.
  case entities = 5

  /// The name in the command line, Python and messages.
  public var description: String {
    switch self {
    case .answer: "answer"
    case .classify: "classify"
    case .embed: "embed"
    case .predict: "predict"
    case .entities: "entities"
    }
  }

  /// The abilities of a model of the task, for messages.
  var purpose: String {
    switch self {
    case .answer: "answer questions"
    case .classify: "classify"
    case .embed: "embed texts"
    case .predict: "predict the next word"
    case .entities: "find entities"
    }
  }
}
