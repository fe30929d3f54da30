import BertQACore

/// The arguments of `bertqa filter`, read.
struct FilterSettings {
  enum TaskName: String, CaseIterable {
    case answer, classify, embed, tokenize

    /// Options that mean something to it.
    var options: [Option] {
      switch self {
      case .answer: [.question, .questionField] + AnswerOptions.commandLineOptions
      case .classify:
        [.topK, .maxSequenceLength, .documentStride, .secondField, .explain, .windowPooling]
      case .embed:
        [.maxSequenceLength, .secondField, .pooling, .normalize, .noNormalize, .truncate]
      case .tokenize: [.ids, .parseSpecialTokens]
      }
    }

    /// What its default model is for.
    var modelTask: ModelTask {
      switch self {
      case .answer, .tokenize: .answer
      case .classify: .classify
      case .embed: .embed
      }
    }
  }

  private(set) var task = TaskName.answer
  private(set) var format = FilterFormat.lines
  private(set) var policy = ErrorPolicy()
  /// The texts of a record that the task wants.
  var texts: [FieldPath] = []
  private(set) var questions: [AnswerTask.Question] = []
  private(set) var id: FieldPath?
  private(set) var outputField: FieldPath
  private(set) var answerOptions = AnswerOptions()
  var classifyOptions = ClassifyOptions()
  var embedOptions = EmbedOptions()
  /// How many labels to give; nil for all.
  var labelLimit: Int?
  private(set) var idsOnly = false
  private(set) var parseSpecialTokens = false
  private(set) var maximumRecordBytes = 64 << 20
  private(set) var maximumDocumentBytes = 16 << 20
  private(set) var batchSize = 64
  private(set) var showsProgress = false
  /// Whether failed records are not reported.
  private(set) var isQuiet = false
  let input: ArgumentText
  private(set) var output: ArgumentText?
  private(set) var checkpoint: ArgumentText?
  /// Seconds between two checkpoints.
  private(set) var checkpointInterval: Float = 1
  private(set) var stats: ArgumentText?
  private(set) var metrics: ArgumentText?

  private static let command = FilterCommand.invocation

  static let formats: KeyValuePairs<String, FilterFormat> = [
    "ndjson": .lines, "csv": .table(.csv), "tsv": .table(.tsv), "length-prefixed": .lengthPrefixed,
  ]

  init(_ arguments: ParsedArguments) throws(ToolError) {
    if arguments.operands.count > 1 {
      throw .usage("more than one file: '\(arguments.operands[1].string)'", command: Self.command)
    }
    input = arguments.operands.first ?? .standardInput
    guard let output = FieldPath("bertqa"), let text = FieldPath("text"), let question = FieldPath("question")
    else { throw ToolError(.resources, "defect: a default field is not a path") }
    outputField = output
    texts = [text]
    for (option, value) in arguments.options { try set(option, value) }
    try readOtherOptions(arguments)
    if task == .answer, questions.isEmpty {
      texts.append(question)
      questions = [.field(1)]
    }
    try checkTogether(arguments)
  }

  private mutating func set(_ option: Option, _ value: ArgumentText?) throws(ToolError) {
    switch (option, value) {
    case (.task, let value?):
      guard let task = TaskName(rawValue: value.string) else {
        let names = TaskName.allCases.map(\.rawValue).joined(separator: ", ")
        throw .usage("--task takes \(names), not '\(value.string)'", command: Self.command)
      }
      self.task = task
    case (.format, let value?):
      format = try value.choice(of: option, from: Self.formats, command: Self.command)
    case (.textField, let value?): texts[0] = try FieldPath(value, of: option, command: Self.command)
    case (.questionField, let value?):
      questions.append(.field(texts.count))
      texts.append(try FieldPath(value, of: option, command: Self.command))
    case (.question, let value?): questions.append(.fixed(value))
    case (.outputField, let value?): outputField = try FieldPath(value, of: option, command: Self.command)
    case (.idField, let value?): id = try FieldPath(value, of: option, command: Self.command)
    case (.onError, let value?): try policy.set(value, command: Self.command)
    case (.maxRecordBytes, let value?):
      maximumRecordBytes = try value.byteCount(of: option, in: 1...1 << 30, command: Self.command)
    case (.maxDocumentBytes, let value?):
      maximumDocumentBytes = try value.byteCount(of: option, in: 1...1 << 30, command: Self.command)
    case (.batchSize, let value?):
      batchSize = try value.integer(of: option, command: Self.command)
      guard (1...10_000).contains(batchSize) else {
        throw .usage("--batch-size is \(batchSize), but must be 1 to 10000", command: Self.command)
      }
    case (.output, let value?): self.output = value
    case (.resume, let value?): checkpoint = value
    case (.checkpointInterval, let value?):
      checkpointInterval = try value.number(of: option, command: Self.command)
    case (.stats, let value?): stats = value
    case (.metrics, let value?): metrics = value
    case (.progress, _): showsProgress = true
    case (.quiet, _): isQuiet = true
    case (.ids, _): idsOnly = true
    case (.parseSpecialTokens, _): parseSpecialTokens = true
    default: try answerOptions.set(option, value, command: Self.command)
    }
  }

  /// Options that only make sense together.
  private mutating func checkTogether(_ arguments: ParsedArguments) throws(ToolError) {
    for case (.delimiter, let value?) in arguments.options {
      guard case .table(let dialect) = format, dialect.hasQuotes else {
        throw .usage("--delimiter goes with --format csv", command: Self.command)
      }
      format = .table(
        TableDialect(
          delimiter: try value.delimiter(of: .delimiter, command: Self.command), hasQuotes: true))
    }
    let others = TaskName.allCases.flatMap(\.options)
    for (option, _) in arguments.options where others.contains(option) && !task.options.contains(option) {
      throw .usage("--\(option.rawValue) does not go with --task \(task.rawValue)", command: Self.command)
    }
    if format.isTable, answerOptions.topK > 1 {
      throw .usage("a table has room for one answer: --top-k goes with JSON records", command: Self.command)
    }
    if texts.count > 60 { throw .usage("more than 59 questions", command: Self.command) }
    if checkpoint != nil, output == nil || arguments.operands.isEmpty {
      throw .usage("--resume needs an input file and --output", command: Self.command)
    }
  }
}
