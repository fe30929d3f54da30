/// What a context runs, by what its model is for. Each is immutable and used by any number of threads at once.
enum Engine: Sendable {
  case tokenizer(any Tokenizer)
  case answering(QuestionAnswerer, Encoder)
  case wordCounts(WordCountClassifier)
  case classification(TextClassifier)
  case embedding(TextEmbedder)
  case entities(EntityRecognizer)
  case languageModel(SequenceModel)

  /// nil for models that read words rather than tokens.
  var tokenizer: (any Tokenizer)? {
    switch self {
    case .tokenizer(let tokenizer): tokenizer
    case .answering(let answerer, _): answerer.tokenizer
    case .classification(let classifier): classifier.reader.reader.tokenizer
    case .embedding(let embedder): embedder.reader.reader.tokenizer
    case .entities(let recognizer): recognizer.reader.tokenizer
    case .wordCounts, .languageModel: nil
    }
  }

  /// Runs the task's code once per process, while fork() waits: see `WarmUp`.
  func warmUp() {
    let text = staticBytes("a a")
    switch self {
    case .tokenizer(let tokenizer):
      WarmUp.once(.tokenizer) { _ = try? tokenizer.tokens(of: text, nil) }
    case .answering(let answerer, _):
      WarmUp.once(.answering) { answerer.warmUp(text) }
    case .classification(let classifier):
      WarmUp.once(.classification) {
        _ = try? classifier.classifyEach([TextPair(text: text, second: text)], ClassifyOptions())
      }
    case .embedding(let embedder):
      WarmUp.once(.embedding) {
        try? embedder.forEachVector(of: [TextPair(text: text)], EmbedOptions()) { _, _, _ in }
      }
    case .entities(let recognizer):
      WarmUp.once(.entities) { recognizer.warmUp(text) }
    case .wordCounts(let classifier):
      WarmUp.once(.wordCounts) { classifier.warmUp(text) }
    case .languageModel(let model):
      WarmUp.once(.languageModel) { model.warmUp() }
    }
  }
}

extension QuestionAnswerer {
  /// Every way through the code: ranking, n_best_size, a document asked twice.
  fileprivate func warmUp(_ text: UnsafeBufferPointer<UInt8>) {
    var options = AnswerOptions()
    options.topK = 2
    _ = try? answerEach([QuestionDocumentPair(question: text, document: .text(text))], options)
    options.maxSequenceLength = WindowLayout.minimumLength
    options.maxWindows = 1
    options.nBestSize = 1
    let long = Array(String(repeating: "a. ", count: 32).utf8)
    long.withUnsafeBufferPointer { long in
      guard let document = try? prepare(long) else { return }
      _ = try? answerEach(
        [
          QuestionDocumentPair(question: text, document: .text(long)),
          QuestionDocumentPair(question: text, document: .text(long)),
          QuestionDocumentPair(question: text, document: .prepared(document)),
        ], options)
    }
    // The rules for what is never cut, and for where sentences end.
    let marks = staticBytes(
      "a@b.de -5 US$5 million km 5°C x.com/a http://a U.S. Inc. no. 5. Mr. A. It. “No!” No。")
    for cut in 0..<marks.count {
      let range = TextRange(start: cut, end: cut)
      _ = ExpressionFinder(text: PatternText(bytes: marks)).extended(range)
      _ = try? SentenceFinder(text: marks).sentence(around: range)
    }
  }
}

extension EntityRecognizer {
  /// Every way through the code: words and tokens, several windows.
  fileprivate func warmUp(_ text: UnsafeBufferPointer<UInt8>) {
    var options = EntityOptions()
    options.ignoredLabels = []
    options.maxSequenceLength = WindowLayout.minimumLength
    let long = [UInt8](repeating: UInt8(ascii: "."), count: 64)
    long.withUnsafeBufferPointer { long in
      for aggregation in TokenAggregation.allCases {
        options.aggregation = aggregation
        _ = try? recognizeEach([text, long], options)
      }
    }
  }
}

/// A model that was read: what runs it, and what callers are told of it.
struct LoadedEngine {
  let engine: Engine
  let info: ModelInfo
  private(set) var mapped: [ModelFile] = []

  private init(_ engine: Engine, _ info: ModelInfo) {
    self.engine = engine
    self.info = info
  }

  /// A tokenizer alone: a directory or a file.
  static func tokenizer(
    path: String, _ load: ModelLoad, _ monitor: CallMonitor
  ) throws(BertQAError) -> LoadedEngine {
    // Which files there are decides what code runs.
    let directory = ModelDirectory(path: path).loading(load)
    let kind = "tokenizer of a path \(path.hasSuffix(".json")) \(directory.tokenizerKind)"
    return try WarmUp.load(kind) { () throws(BertQAError) in
      try .tokenizer(TokenizerFiles(path: path, load, monitor), from: path, monitor)
    }
  }

  static func tokenizer(
    _ directory: ModelDirectory, _ monitor: CallMonitor
  ) throws(BertQAError) -> LoadedEngine {
    try WarmUp.load("tokenizer \(directory.tokenizerKind)") { () throws(BertQAError) in
      try .tokenizer(TokenizerFiles(directory.asking(monitor)), from: directory.name, monitor)
    }
  }

  private static func tokenizer(
    _ files: TokenizerFiles, from directory: String, _ monitor: CallMonitor
  ) throws(BertQAError) -> LoadedEngine {
    var info = ModelInfo(directory: directory)
    info.vocabularySize = files.vocabularySize
    info.lowercase = files.lowercases
    return LoadedEngine(.tokenizer(try files.makeTokenizer(monitor)), info)
  }

  /// The model that `config.json`'s architecture says the directory holds.
  static func load(
    _ directory: ModelDirectory, _ options: ContextOptions, _ monitor: CallMonitor
  ) throws(BertQAError) -> LoadedEngine {
    let mapped = MappedFiles()
    let directory = directory.loading(options.load, mapped).asking(monitor)
    let (source, architecture) = try WarmUp.load("config.json \(directory.sourceKind)") {
      () throws(BertQAError) in
      let source = try directory.object(in: "config.json")
      return (source, try Architecture(source))
    }
    // Quantized or not: config.json says it.
    let kind =
      "\(architecture.name) \(options.precision.rawValue) \(source.value("bertqa") != nil) \(directory.modelKind)"
    var loaded = try WarmUp.load(kind) { () throws(BertQAError) in
      try LoadedEngine(directory, source, architecture, options, monitor)
    }
    loaded.mapped = mapped.inUse
    return loaded
  }

  private init(
    _ directory: ModelDirectory, _ source: ObjectReader, _ architecture: Architecture,
    _ options: ContextOptions, _ monitor: CallMonitor
  ) throws(BertQAError) {
    var info = ModelInfo(directory: directory.name)
    info.architecture = architecture.name
    info.task = architecture.task
    switch architecture.kind {
    case .encoder(_, let head):
      try self.init(
        LoadedModel(directory, source, architecture), head, options, info, monitor)
    case .wordCounts:
      let model = try WordCountModel.load(directory, source)
      let classifier = WordCountClassifier(model, threadLimit: options.threads)
      info.threads = classifier.threadCount
      info.vocabularySize = model.featureCount
      info.lowercase = true
      info.labels = model.labels
      self.init(.wordCounts(classifier), info)
    case .recurrent:
      guard options.precision == .auto || options.precision == .f32 else {
        throw BertQAError(
          .unsupported, argument: "precision",
          "\(options.precision) is not for models that predict: \(directory.name) runs in f32 only")
      }
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
    _ model: LoadedModel, _ head: HeadKind, _ options: ContextOptions, _ info: ModelInfo,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    let encoder = try Encoder(
      model: model, precision: options.precision, kernels: Self.kernels(options),
      threadLimit: options.threads, monitor)
    let configuration = model.configuration
    var info = info
    info.precision = encoder.arithmetic.precision
    info.instructionSet = InstructionSet(rawValue: encoder.kernels.table.isa)
    info.threads = Self.threads(options)
    info.vocabularySize = model.tokenizer.vocabularySize
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
    switch head {
    case .spans:
      let answerer = QuestionAnswerer(
        reader: reader,
        decision: AnswerDecision(
          threshold: configuration.noAnswerThreshold, rise: configuration.thresholdRise,
          calibration: configuration.answerCalibration))
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
            reader: reader, labels: configuration.labels, aggregation: configuration.aggregation)), info)
    case .vectors:
      guard let defaults = model.embedding else {
        throw BertQAError(.internal, "\(info.directory): an embedding model without its configuration")
      }
      info.embeddingLength = configuration.hiddenSize
      let embedder = TextEmbedder(
        reader: TextReader(reader: reader), defaults: defaults, length: configuration.hiddenSize)
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

/// The bytes of a string in the program itself, which live as long as the process.
private func staticBytes(_ text: StaticString) -> UnsafeBufferPointer<UInt8> {
  UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
}
