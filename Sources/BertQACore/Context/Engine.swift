/// The component that runs a model, by the model's task. Each is immutable, and any number of threads may use
/// it at once.
enum Engine: Sendable {
  case tokenizer(any Tokenizer)
  case answering(QuestionAnswerer, Encoder)
  case wordCounts(WordCountClassifier)
  case classification(TextClassifier)
  case embedding(any Embedder)
  case embeddingClassification(EmbeddingClassifier)
  case entities(any EntityFinder)
  case languageModel(SequenceModel)

  /// nil for models that read words rather than tokens.
  var tokenizer: (any Tokenizer)? {
    switch self {
    case .tokenizer(let tokenizer): tokenizer
    case .answering(let answerer, _): answerer.tokenizer
    case .classification(let classifier): classifier.reader.reader.tokenizer
    case .embedding(let embedder): embedder.tokenizer
    case .embeddingClassification(let classifier): classifier.embedder.tokenizer
    case .entities(let finder): finder.tokenizer
    case .wordCounts, .languageModel: nil
    }
  }
}

/// A loaded model: its engine and the information for callers.
struct LoadedEngine {
  let engine: Engine
  let info: ModelInfo
  private(set) var mapped: [ModelFile] = []

  private init(_ engine: Engine, _ info: ModelInfo) {
    self.engine = engine
    self.info = info
  }

  /// Loads only a tokenizer, from the directory or from the file at `path`.
  static func tokenizer(
    _ directory: ModelDirectory, path: String? = nil
  ) throws(BertQAError) -> LoadedEngine {
    let encoder = try directory.ofEncoder()
    try Architecture.checkReadsTokens(encoder)
    let files: TokenizerFiles
    if let own = try directory.ofStaticModel() {
      files = try TokenizerFiles(tokenizerJSONAlone: own)
    } else if let path {
      files = try TokenizerFiles(path: path, encoder)
    } else {
      files = try TokenizerFiles(encoder)
    }
    var info = ModelInfo(directory: path ?? directory.name)
    info.vocabularySize = files.vocabularySize
    info.tokenizer = files.summary
    info.lowercase = files.lowercases
    return LoadedEngine(.tokenizer(try files.makeTokenizer(directory.monitor)), info)
  }

  /// Loads the model of the architecture that `config.json` names.
  static func load(
    _ directory: ModelDirectory, _ options: ContextOptions
  ) throws(BertQAError) -> LoadedEngine {
    let mapped = MappedFiles()
    let directory = directory.loading(options.load, mapped)
    var loaded = try LoadedEngine(directory, options)
    if let own = try LinearHead.directory(in: directory) { loaded = try loaded.classifying(with: own) }
    loaded.mapped = mapped.inUse
    return loaded
  }

  private init(_ directory: ModelDirectory, _ options: ContextOptions) throws(BertQAError) {
    let directory = try directory.ofModel()
    if let model = try StaticModel(directory) {
      try self.init(model, options, ModelInfo(directory: directory.name), directory.monitor)
      return
    }
    if let files = try PromptedModelFiles(directory) {
      var info = ModelInfo(directory: directory.name)
      info.architecture = files.architecture.name
      info.task = files.architecture.task
      try self.init(LoadedModel(files), .vectors, options, info, directory.monitor)
      return
    }
    let source = try directory.object(in: "config.json")
    try self.init(directory, source, Architecture(source, directory), options)
  }

  /// Returns the classifier that consists of this embedding model and a head.
  private func classifying(with head: ModelDirectory) throws(BertQAError) -> LoadedEngine {
    guard case .embedding(let embedder) = engine else {
      throw BertQAError(
        .invalidModel,
        "\(info.directory): has the head of an \(Architecture.embeddingClassifier.name), but \(info.architecture) is "
          + "not an embedding model")
    }
    let head = try LinearHead(head, length: embedder.length)
    var info = info
    info.architecture = Architecture.embeddingClassifier.name
    info.task = Architecture.embeddingClassifier.task
    info.labels = head.labels
    return LoadedEngine(
      .embeddingClassification(EmbeddingClassifier(embedder: embedder, head: head)), info)
  }

  private init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ architecture: Architecture,
    _ options: ContextOptions
  ) throws(BertQAError) {
    var info = ModelInfo(directory: directory.name)
    info.architecture = architecture.name
    info.task = architecture.task
    switch architecture.kind {
    case .encoder(_, let head):
      try self.init(
        LoadedModel(directory, source, architecture), head, options, info, directory.monitor)
    case .prompted:
      throw BertQAError(.internal, "\(source.file): \(architecture.name) has a file of its own")
    case .linear:
      throw BertQAError(
        .unsupported,
        "\(source.file): architecture \(quoted(architecture.name)) belongs in the classifier's folder beside the files "
          + "of its embedding model")
    case .table:
      throw BertQAError(
        .unsupported,
        "\(source.file): architecture \(quoted(architecture.name)), but modules.json begins with no such module"
      )
    case .wordCounts:
      let model = try WordCountModel.load(directory, source)
      let classifier = WordCountClassifier(model, threadLimit: options.threads)
      info.threads = classifier.threadCount
      info.vocabularySize = model.featureCount
      info.lowercase = true
      info.labels = model.labels
      self.init(.wordCounts(classifier), info)
    case .recurrent:
      try Self.requireF32(options, "models that predict words", directory.name)
      let model = try SequenceModel(
        directory, source, kernels: Self.kernels(options), threadLimit: options.threads)
      info.precision = .f32
      info.instructionSet = InstructionSet(rawValue: model.kernels.table.isa)
      info.threads = Self.threads(options)
      info.vocabularySize = model.configuration.vocabularySize
      info.hiddenSize = model.configuration.hiddenSize
      info.layerCount = model.configuration.layerCount
      info.stateLength = model.configuration.stateLength
      self.init(.languageModel(model), info)
    }
  }

  private init(
    _ model: StaticModel, _ options: ContextOptions, _ info: ModelInfo, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try Self.requireF32(options, "static models", info.directory)
    let kernels = try Self.kernels(options)
    let embedder = try StaticEmbedder(model, kernels: kernels, threadLimit: options.threads, monitor)
    var info = info
    info.architecture = model.architecture.name
    info.task = model.architecture.task
    info.precision = .f32
    info.instructionSet = InstructionSet(rawValue: kernels.table.isa)
    info.threads = Self.threads(options)
    info.vocabularySize = model.tokenizer.vocabularySize
    info.tokenizer = model.tokenizer.summary
    info.embedding = EmbeddingInfo(model)
    info.hiddenSize = model.width
    info.maxPositions = model.limit?.tokens ?? 0
    info.lowercase = model.tokenizer.lowercases
    info.embeddingLength = embedder.length
    self.init(.embedding(embedder), info)
  }

  /// - Parameter models: the models that run only in f32.
  private static func requireF32(
    _ options: ContextOptions, _ models: String, _ directory: String
  ) throws(BertQAError) {
    guard options.precision != .auto, options.precision != .f32 else { return }
    throw BertQAError(
      .unsupported, argument: "precision",
      "\(options.precision) is not available for \(models): \(directory) runs only in f32")
  }

  private init(
    _ model: LoadedModel, _ head: HeadKind, _ options: ContextOptions, _ info: ModelInfo,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    let encoder = try Encoder(
      model: model, precision: options.precision, kernels: Self.kernels(options),
      threadLimit: options.threads, monitor)
    let configuration = model.configuration
    var info = info
    info.precision = encoder.arithmetic.precision
    info.isQuantizedAtLoading =
      encoder.arithmetic == .int8 && !model.encoder.layers.allSatisfy { $0.query.weight.dataType == .i8 }
    info.instructionSet = InstructionSet(rawValue: encoder.kernels.table.isa)
    info.threads = Self.threads(options)
    let prefixes = configuration.family.classPrefixes
    info.family =
      model.prompted == nil ? prefixes.first { info.architecture.hasPrefix($0) } ?? "" : prefixes[0]
    info.vocabularySize = model.tokenizer.vocabularySize
    info.tokenizer = model.tokenizer.summary
    info.embedding = model.embedding.map { EmbeddingInfo($0) }
    info.ignoredTensors = model.ignoredTensors
    info.hiddenSize = configuration.hiddenSize
    info.layerCount = configuration.layerCount
    info.headCount = configuration.headCount
    info.intermediateSize = configuration.intermediateSize
    info.maxPositions = configuration.maxPositions
    info.lowercase = model.tokenizer.lowercases
    info.noAnswerThreshold = configuration.noAnswerThreshold
    info.labels = configuration.labels
    let reader = WindowReader(
      tokenizer: try model.tokenizer.makeTokenizer(monitor), model: encoder,
      maxPositions: configuration.maxPositions)
    if let prompted = model.prompted {
      self.init(.entities(try PromptedRecognizer(reader, model, prompted, encoder)), info)
      return
    }
    switch head {
    case .spans:
      var answerer = QuestionAnswerer(
        reader: reader,
        decision: AnswerDecision(
          threshold: configuration.noAnswerThreshold, rise: configuration.thresholdRise,
          calibration: configuration.answerCalibration))
      // Models for long texts read as much as they can at once.
      if configuration.local != nil { answerer.defaultSequenceLength = configuration.maxPositions }
      self.init(.answering(answerer, encoder), info)
    case .labels:
      let classifier = TextClassifier(
        reader: TextReader(reader: reader), labels: configuration.labels,
        problemType: configuration.problemType)
      self.init(.classification(classifier), info)
    case .tokenLabels:
      self.init(
        .entities(
          EntityRecognizer(
            reader: reader, labels: configuration.labels, aggregation: configuration.aggregation,
            window: configuration.entityWindow)), info)
    case .vectors:
      guard let defaults = model.embedding else {
        throw BertQAError(.internal, "\(info.directory): an embedding model without its configuration")
      }
      info.embeddingLength = defaults.length(hiddenSize: configuration.hiddenSize)
      let texts = TextReader(reader: reader)
      let tasks = TaskEncoders(model, encoder)
      let embedder = TextEmbedder(
        reader: texts, defaults: defaults, length: info.embeddingLength,
        tokens: try TokenEmbedder(texts, defaults, encoder, tasks), tasks: tasks)
      self.init(.embedding(embedder), info)
    }
  }

  private static func threads(_ options: ContextOptions) -> Int {
    options.threads > 0 ? options.threads : ThreadPool.shared.size
  }

  private static func kernels(_ options: ContextOptions) throws(BertQAError) -> Kernels {
    guard let kernels = Kernels(isa: options.instructionSet.rawValue) else {
      throw BertQAError(
        .unsupported, argument: "isa",
        "\(options.instructionSet) is not available on this CPU or in this build; use auto")
    }
    return kernels
  }
}
