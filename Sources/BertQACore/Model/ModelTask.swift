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
  public var name: StaticString {
    switch self {
    case .answer: "answer"
    case .classify: "classify"
    case .embed: "embed"
    case .predict: "predict"
    case .entities: "entities"
    }
  }

  public var description: String { name.description }

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

/// The meaning of a classifier's outputs, with the numbers of `bertqa_problem_type`.
public enum ProblemType: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// Exactly one label is right: probabilities are a softmax and sum to 1.
  case singleLabel = 1
  /// Any number of labels can be right: each has its own sigmoid.
  case multiLabel = 2
  /// The outputs are numbers.
  case regression = 3

  /// Hugging Face's `problem_type`.
  public var description: String {
    switch self {
    case .singleLabel: "single_label_classification"
    case .multiLabel: "multi_label_classification"
    case .regression: "regression"
    }
  }
}

/// How token labels become entities: the strategies of transformers' token-classification pipeline, with the
/// numbers of `bertqa_aggregation`.
public enum TokenAggregation: Int32, Sendable, CaseIterable, CustomStringConvertible {
  /// As the model's `config.json` specifies ("bertqa": {"aggregation": …}), else `simple`.
  case model = 0
  /// Every token is an entity.
  case none = 1
  /// Neighbouring tokens with the same tag form an entity; B- starts another one.
  case simple = 2
  /// As `simple`, for words, whose label is that of their first token.
  case first = 3
  /// As `first`, but a word's label has the highest mean probability over the word's tokens.
  case average = 4
  /// As `first`, but a word's label is that of the token with the highest probability.
  case max = 5

  /// The name in the command line, Python and `config.json`.
  public var description: String {
    switch self {
    case .model: "model"
    case .none: "none"
    case .simple: "simple"
    case .first: "first"
    case .average: "average"
    case .max: "max"
    }
  }
}
