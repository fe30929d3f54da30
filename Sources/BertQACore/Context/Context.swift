/// One loaded model. Immutable; any number of threads may use it at once, and a forked child may go on using it.
///
///     let context = try Context(modelDirectory: "models/qa-minilm-l6")
///     let document = "The quick brown fox jumps over the lethargic dog."
///     let result = try context.answer(question: "Who jumped over the dog?", document: document)
///     for answer in result.answers { print(answer.text(in: document), answer.probability) }
public final class Context: Sendable {
  public let info: ModelInfo
  let engine: Engine
  /// The files that the engine reads its weights from.
  private let mapped: [ModelFile]

  /// Loads a directory in the format of Hugging Face's `save_pretrained`. Weights are memory-mapped, and used
  /// in place if their format allows it.
  /// - Parameter modelDirectory: a path, or the name of an installed model: see
  ///   `ModelDirectory.init(pathOrName:)`.
  public convenience init(
    modelDirectory: String, options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    try self.init(options) { monitor throws(BertQAError) in
      try Self.load(modelDirectory, options, monitor)
    }
  }

  private static func load(
    _ pathOrName: String, _ options: ContextOptions, _ monitor: CallMonitor
  ) throws(BertQAError) -> LoadedEngine {
    guard !pathOrName.isEmpty else {
      throw BertQAError(.invalidArgument, argument: "model_directory", "is empty")
    }
    let path = DefaultModel.path(of: pathOrName)
    let directory = ModelDirectory(path: path).loading(options.load).asking(monitor)
    return try options.tokenizerOnly
      ? .tokenizer(directory, path: path) : LoadedEngine.load(directory, options)
  }

  /// Loads a model from an open directory or from memory.
  public convenience init(
    model: ModelDirectory, options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    try self.init(options) { monitor throws(BertQAError) in
      let directory = model.loading(options.load).asking(monitor)
      return try options.tokenizerOnly ? .tokenizer(directory) : LoadedEngine.load(directory, options)
    }
  }

  /// Loads the default model for the task `options.defaultModel`. For answers, the environment variable BERTQA_MODEL
  /// overrides it. Otherwise looks for the model next to the library or program that contains this code, in its
  /// install prefix, in /usr/local and in /usr.
  public convenience init(
    defaultModelWithOptions options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    try self.init(options) { monitor throws(BertQAError) in
      guard let chosen = try DefaultModel.chosen(for: options.defaultModel) else {
        return try Self.load(DefaultModel.directory(for: options.defaultModel), options, monitor)
      }
      do throws(BertQAError) {
        return try Self.load(chosen, options, monitor)
      } catch {
        throw error.prefixed(by: DefaultModel.variable)
      }
    }
  }

  private init(
    _ options: ContextOptions, _ load: (CallMonitor) throws(BertQAError) -> LoadedEngine
  ) throws(BertQAError) {
    try BertQAError.check("threads", options.threads, 0...WorkerThreads.maximumCount)
    let monitor = CallMonitor(options.call)
    try monitor.checkNow()
    let loaded = try load(monitor)
    try monitor.checkNow()
    engine = loaded.engine
    info = loaded.info
    mapped = loaded.mapped
    guard let log = options.log else { return }
    if let hint = info.hint { log(hint) }
    log(info.summary)
  }

  /// Returns the engine for a call that may read the weights. Throws `.io` if a weight file has been
  /// truncated.
  func runningEngine() throws(BertQAError) -> Engine {
    for file in mapped { try file.checkIsWhole() }
    return engine
  }

  /// Throws `.wrongModel`, as calls do, if the model is not for `task`.
  public func validate(for task: ModelTask) throws(BertQAError) {
    if info.task != task { throw wrongModel(needed: task) }
  }

  /// The error for a call that the model cannot serve.
  /// - Parameter purpose: the requested action if it is only a part of the task.
  func wrongModel(needed: ModelTask, for purpose: String? = nil) -> BertQAError {
    if case .tokenizer = engine {
      return BertQAError(
        .wrongModel,
        "\(info.directory) was loaded as a tokenizer only; create a context without tokenizer_only")
    }
    return BertQAError(
      .wrongModel,
      "\(info.directory) has the architecture \(info.architecture), which cannot \(purpose ?? needed.purpose); use "
        + Architecture.names(for: needed))
  }
}

/// Options for loading and running a model.
public struct ContextOptions: Sendable {
  /// The maximum number of threads for one call, including the calling one; at most 1024. 0: as many as the
  /// process may run on (CPU affinity and cgroup quota).
  public var threads = 0
  public var precision = Precision.auto
  public var instructionSet = InstructionSet.auto
  /// Loads only the vocabulary and the tokenizer's settings.
  public var tokenizerOnly = false
  /// How the model's files get into memory.
  public var load = ModelLoad.mmap
  /// The task of the default model, used if no directory is given.
  public var defaultModel = ModelTask.answer
  /// Receives one line for each decision made while loading. Called on the calling thread after everything is
  /// loaded.
  public var log: (@Sendable (String) -> Void)?

  /// The call options of loading.
  public var call = CallOptions()

  public init() {}
}
