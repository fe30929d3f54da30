import Synchronization

/// One loaded model: tokenizes and answers. Immutable; any number of threads may use it at once, and a
/// forked child may go on using it.
///
///     let context = try Context(modelDirectory: "models/qa-minilm-l6")
///     let document = "The quick brown fox jumps over the lethargic dog."
///     let result = try context.answer(question: "Who jumped over the dog?", document: document)
///     for answer in result.answers { print(answer.text(in: document), answer.probability) }
public final class Context: Sendable {
  public let info: ModelInfo
  let engine: Engine

  /// Loads a directory as Hugging Face's `save_pretrained` writes it. Weights are memory-mapped and used in
  /// place where their format allows.
  public init(modelDirectory: String, options: ContextOptions = ContextOptions()) throws(BertQAError) {
    guard (0...Self.maximumThreads).contains(options.threads) else {
      throw BertQAError(
        .invalidArgument, "threads is \(options.threads), but must be 0 to \(Self.maximumThreads)")
    }
    (engine, info) = try ForkGuard.hold { () throws(BertQAError) in
      try options.tokenizerOnly
        ? Self.loadTokenizer(modelDirectory) : Self.loadModel(modelDirectory, options)
    }
    guard let precision = info.precision, let instructionSet = info.instructionSet else { return }
    warmUp()
    options.log?(
      "loaded \(info.architecture) from \(modelDirectory): precision \(precision), isa \(instructionSet), "
        + "\(info.threads) thread(s)")
  }

  private static func loadTokenizer(_ path: String) throws(BertQAError) -> (Engine, ModelInfo) {
    let loaded = try LoadedTokenizer.load(path: path)
    let tokenizer = try tokenizer(loaded.vocabulary, loaded.configuration, of: path)
    return (.tokenizer(tokenizer), ModelInfo(tokenizer: loaded, directory: path))
  }

  private static func loadModel(
    _ directory: String, _ options: ContextOptions
  ) throws(BertQAError) -> (Engine, ModelInfo) {
    guard !directory.isEmpty else {
      throw BertQAError(.invalidArgument, "the model directory's name is empty")
    }
    let architecture = try Architecture(ObjectReader(MappedFile(path: "\(directory)/config.json")))
    switch architecture {
    case .wordCountClassifier: return try loadWordCount(directory, options)
    case .lstmLanguageModel, .gruLanguageModel: return try loadSequence(directory, options)
    default: return try loadEncoder(directory, options)
    }
  }

  static func kernels(_ options: ContextOptions) throws(BertQAError) -> Kernels {
    guard let kernels = Kernels(isa: options.instructionSet.rawValue) else {
      throw BertQAError(
        .unsupported,
        "isa \(options.instructionSet) is not available on this CPU or in this build; use auto")
    }
    return kernels
  }

  /// Does once per process and kind of model, while fork() is held back, what it is for: see
  /// `ForkGuard`. What comes out is of no interest.
  private func warmUp() {
    let mark: UInt32 = 1 << UInt32(clamping: info.task?.rawValue ?? 0)
    guard Self.warm.load(ordering: .acquiring) & mark == 0 else { return }
    ForkGuard.hold {
      switch engine {
      case .tokenizer, .wordCount, .sequence: break
      case .questionAnswering: _ = try? answer(question: "a", document: "a b")
      case .classification: _ = try? classify("a")
      case .embedding: _ = try? embed("a")
      }
    }
    Self.warm.bitwiseOr(mark, ordering: .releasing)
  }

  /// Bit `ModelTask.rawValue`.
  private static let warm = Atomic<UInt32>(0)

  /// Loads the default model of `options.defaultModel`: from beside the library or program that this code is part
  /// of, its install prefix, /usr/local, /usr, or, to answer questions, the environment variable BERTQA_MODEL.
  public convenience init(
    defaultModelWithOptions options: ContextOptions = ContextOptions()
  ) throws(BertQAError) {
    try self.init(modelDirectory: DefaultModel.directory(for: options.defaultModel), options: options)
  }

  private static let maximumThreads = 1024

  /// The tokenizer of a model; what is wrong with it is told with the model's name.
  static func tokenizer(
    _ vocabulary: Vocabulary, _ configuration: TokenizerConfiguration, of modelDirectory: String
  ) throws(BertQAError) -> WordPieceTokenizer {
    do {
      return try WordPieceTokenizer(vocabulary: vocabulary, configuration: configuration)
    } catch {
      throw BertQAError(error.status, "\(modelDirectory): \(error.message)")
    }
  }
}

extension ModelInfo {
  init(tokenizer: LoadedTokenizer, directory: String) {
    self.init(
      directory: directory, architecture: "", precision: nil, instructionSet: nil, threads: 1,
      vocabularySize: tokenizer.vocabulary.count, hiddenSize: 0, layerCount: 0, headCount: 0,
      intermediateSize: 0, maxPositions: 0, lowercase: tokenizer.configuration.lowercase,
      noAnswerThreshold: 0)
  }
}
