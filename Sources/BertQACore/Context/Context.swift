/// One loaded model. Immutable; any number of threads may use it at once, and a forked child may go on using it.
///
///     let context = try Context(modelDirectory: "models/qa-minilm-l6")
///     let document = "The quick brown fox jumps over the lethargic dog."
///     let result = try context.answer(question: "Who jumped over the dog?", document: document)
///     for answer in result.answers { print(answer.text(in: document), answer.probability) }
public final class Context: Sendable {
  public let info: ModelInfo
  let engine: Engine
  /// Files that the engine reads its weights from.
  private let mapped: [ModelFile]

  private static let maximumThreads = 1024

  /// Loads a directory as Hugging Face's `save_pretrained` writes it. Weights are memory-mapped and used in
  /// place where their format allows.
  public convenience init(
    modelDirectory: String, options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    guard !modelDirectory.isEmpty else {
      throw BertQAError(.invalidArgument, argument: "model_directory", "is empty")
    }
    try self.init(options) { monitor throws(BertQAError) in
      try options.tokenizerOnly
        ? .tokenizer(path: modelDirectory, options.load, monitor)
        : LoadedEngine.load(ModelDirectory(path: modelDirectory), options, monitor)
    }
  }

  /// Loads a model from an open directory or from memory.
  public convenience init(
    model: ModelDirectory, options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    try self.init(options) { monitor throws(BertQAError) in
      try options.tokenizerOnly
        ? .tokenizer(model.loading(options.load), monitor) : LoadedEngine.load(model, options, monitor)
    }
  }

  /// Loads the default model of `options.defaultModel`: from beside the library or program that this code is part
  /// of, its install prefix, /usr/local, /usr, or, to answer questions, the environment variable BERTQA_MODEL.
  public convenience init(
    defaultModelWithOptions options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    try self.init(modelDirectory: DefaultModel.directory(for: options.defaultModel), options: options)
  }

  private init(
    _ options: ContextOptions, _ load: (CallMonitor) throws(BertQAError) -> LoadedEngine
  ) throws(BertQAError) {
    guard (0...Self.maximumThreads).contains(options.threads) else {
      throw BertQAError(
        .invalidArgument, argument: "threads",
        "is \(options.threads), but must be 0 to \(Self.maximumThreads)")
    }
    let monitor = CallMonitor(options.call)
    try monitor.checkNow()
    let loaded = try load(monitor)
    try monitor.checkNow()
    engine = loaded.engine
    info = loaded.info
    mapped = loaded.mapped
    if let log = options.log { log(info.summary) }
  }

  /// The engine, for a call that may read the weights; `.io` where a file of theirs has been cut short.
  func runningEngine() throws(BertQAError) -> Engine {
    for file in mapped { try file.checkIsWhole() }
    return engine
  }

  /// Throws `.wrongModel`, as calls do, where the model is not for `task`.
  public func validate(for task: ModelTask) throws(BertQAError) {
    if info.task != task { throw wrongModel(needed: task) }
  }

  /// For a caller who asked a model for what it cannot do.
  /// - Parameter purpose: what it was asked, if that is a part of the task.
  func wrongModel(needed: ModelTask, for purpose: String? = nil) -> BertQAError {
    if case .tokenizer = engine {
      return BertQAError(
        .wrongModel,
        "\(info.directory) was loaded as a tokenizer alone; create a context without tokenizer_only")
    }
    let names = Architecture.all.filter { $0.task == needed }.map(\.name)
    return BertQAError(
      .wrongModel,
      "\(info.directory) is a \(info.architecture), which cannot \(purpose ?? needed.purpose); use a model of "
        + names.joined(separator: ", "))
  }
}
