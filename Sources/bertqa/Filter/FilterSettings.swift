import BertQACore

/// The parsed arguments of `bertqa filter`.
struct FilterSettings {
  enum TaskName: String, CaseIterable {
    case answer, classify, entities, embed, tokenize

    /// The options that apply to the task.
    var options: [Option] {
      switch self {
      case .answer: [.question, .questionField] + AnswerOptions.options
      case .classify:
        [.topK, .secondField, .minProbability, .contributions]
          + (ClassifyOptions.labelRows + ClassifyOptions.readingRows).map(\.option)
      case .entities:
        [.inPlace] + (EntitySearch.findingRows + EntitySearch.readingRows).map(\.option)
      case .embed: [.secondField] + EmbedOptions.rows.map(\.option)
      case .tokenize: [.ids, .parseSpecialTokens]
      }
    }

    /// The names that --fields accepts.
    var fieldNames: [String] {
      switch self {
      case .answer: AnswerTask.Field.names
      case .classify: ClassifyTask.Field.names
      case .entities: EntitiesTask.Field.names
      case .embed: EmbedTask.Field.names
      case .tokenize: TokenizeTask.Field.names
      }
    }

    /// The task of the default model.
    var modelTask: ModelTask {
      switch self {
      case .answer, .tokenize: .answer
      case .classify: .classify
      case .entities: .entities
      case .embed: .embed
      }
    }
  }

  private(set) var task = TaskName.answer
  let format: RecordFormat
  /// The encoding of the input; nil detects it from the first bytes.
  let encoding: TextEncoding?
  private(set) var policy = ErrorPolicy()
  private var namesTextField = false
  /// The paths of the record's texts that the task needs.
  private(set) var texts: [FieldPath]
  private(set) var questions: [AnswerTask.Question] = []
  private(set) var id: FieldPath?
  /// True if numbers and booleans are accepted as texts.
  private(set) var coerces = false
  private(set) var nullText = NullText.fail
  /// True if the redacted text replaces the text in the record.
  private(set) var isInPlace = false
  private(set) var outputField = FieldPath(member: Array("bertqa".utf8))
  /// The names in --fields; nil for all.
  private var fieldNames: [String]?
  private(set) var answerOptions = AnswerOptions()
  private(set) var classifyOptions = ClassifyOptions()
  private(set) var entitySearch = EntitySearch()
  private(set) var embedOptions = EmbedOptions()
  /// The maximum number of labels; nil for all.
  private(set) var labelLimit: Int?
  private(set) var idsOnly = false
  private(set) var parseSpecialTokens = false
  private(set) var maximumRecordBytes = 64 << 20
  private(set) var maximumDocumentBytes = 16 << 20
  /// The limits of each record.
  let limits: CallLimits
  private(set) var batchSize = 64
  private(set) var showsProgress = false
  /// True if failed records are not reported.
  private(set) var isQuiet = false
  /// One or more inputs, which are read one after the other.
  let inputs: [ArgumentText]
  /// True if reading continues after the end of the input, as more may be appended.
  private(set) var follows = false
  private(set) var stopTimeout = 10.0
  private(set) var output: ArgumentText?
  private(set) var checkpoint: ArgumentText?
  private(set) var mapping: ArgumentText?
  /// The time between two checkpoints in seconds.
  private(set) var checkpointInterval = 1.0
  private(set) var stats: ArgumentText?
  private(set) var report: ArgumentText?
  private(set) var metrics: ArgumentText?
  /// The name and value of each label that every metric has.
  private(set) var metricsLabels: [(name: String, value: String)] = []

  init(_ arguments: ParsedArguments) throws(ToolError) {
    inputs = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    if let given = try RecordFormat(arguments, among: RecordFormat.names) {
      format = given
    } else {
      format = try RecordFormat(of: inputs, arguments)
    }
    encoding = try TextEncoding.given(arguments)
    limits = try CallLimits(arguments)
    texts = [FieldPath(member: Array("text".utf8))]
    for given in arguments.options {
      try set(given)
      try setFiles(given)
    }
    for given in arguments.options { try setTaskOptions(given) }
    if let given = arguments.last(.fields) { fieldNames = try readFields(given) }
    if task == .answer, questions.isEmpty {
      let advice = "; --question QUESTION asks every record"
      texts.append(FieldPath(member: Array("question".utf8), advice: advice))
      questions = [.field(1)]
    }
    try checkTogether(arguments)
    if isInPlace, !format.isTable {
      if arguments.has(.outputField) {
        throw arguments.usage("--output-field cannot be used with --in-place, except for tables")
      }
      outputField = texts[0]
    }
  }

  private mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .task:
      task = try given.choice()
    case .textField:
      // Another field would keep its personal data.
      guard !namesTextField else {
        throw .usage("--text-field is given twice, but a run reads one field", command: given.command)
      }
      namesTextField = true
      texts[0] = try path(given)
    case .questionField:
      questions.append(.field(texts.count))
      texts.append(try path(given))
    case .question: if let text = given.text { questions.append(.fixed(text)) }
    case .outputField: outputField = try path(given)
    case .idField: id = try path(given)
    case .onError, .maxErrors, .exitZeroOnRecordErrors: try policy.set(given)
    case .maxRecordBytes: maximumRecordBytes = try given.byteCount(in: 1...1 << 30)
    case .maxDocumentBytes: maximumDocumentBytes = try given.byteCount(in: 1...1 << 30)
    case .batchSize: batchSize = try given.integer(in: 1...10_000)
    case .progress: showsProgress = true
    case .quiet: isQuiet = true
    case .coerce: coerces = true
    case .nullText: nullText = try given.choice()
    case .inPlace: isInPlace = true
    case .ids: idsOnly = true
    case .parseSpecialTokens: parseSpecialTokens = true
    default: break
    }
  }

  private func path(_ given: ParsedOption) throws(ToolError) -> FieldPath {
    try FieldPath(given, isColumn: format.isTable)
  }

  private mutating func setFiles(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .follow: follows = true
    case .stopTimeout: stopTimeout = try given.seconds()
    case .output: output = given.text
    case .resume: checkpoint = given.text
    case .mapping: mapping = given.text
    case .checkpointInterval: checkpointInterval = try given.seconds()
    case .stats: stats = given.text
    case .report: report = given.text
    case .metrics: metrics = given.text
    case .metricsLabel:
      let parts = given.string.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, FilterMetrics.isLabelName(parts[0]) else {
        throw given.wrong("NAME=VALUE, with a name of letters, digits and underscores")
      }
      metricsLabels.removeAll { $0.name == parts[0] }
      metricsLabels.append((String(parts[0]), String(parts[1])))
    default: break
    }
  }

  /// Some options have the same name for several tasks but different defaults.
  private mutating func setTaskOptions(_ given: ParsedOption) throws(ToolError) {
    switch task {
    case .answer: try answerOptions.set(given)
    case .classify:
      try classifyOptions.set(given)
      if given.option == .topK { labelLimit = try given.integer(in: 1...Int.max) }
    case .entities: try entitySearch.set(given)
    case .embed: try embedOptions.set(given)
    case .tokenize: break
    }
    if given.option == .secondField { texts = [texts[0], try path(given)] }
  }

  private func readFields(_ given: ParsedOption) throws(ToolError) -> [String] {
    var names: [String] = []
    for name in given.names {
      guard task.fieldNames.contains(name), !names.contains(name) else {
        throw given.wrong(
          "\(task.fieldNames.joined(separator: ", ")), separated by commas and each once with --task "
            + task.rawValue)
      }
      names.append(name)
    }
    return names
  }

  /// Returns the values of --fields as the task's own type; nil for all.
  func fields<Field: ResultField>() -> [Field]? { fieldNames?.compactMap { Field(rawValue: $0) } }

  /// The files that the run writes, beside standard output.
  var outputs: [ArgumentText] {
    [output, checkpoint, mapping, stats, report, metrics, policy.deadLetters].compactMap { $0 }
  }

  /// Options for reading the inputs.
  var reading: Input.Reading { Input.Reading(isText: format.isText, encoding: encoding, grows: follows) }

  /// Checks options that are valid only in combination.
  private func checkTogether(_ arguments: ParsedArguments) throws(ToolError) {
    let others = TaskName.allCases.flatMap(\.options)
    for given in arguments.options
    where others.contains(given.option) && !task.options.contains(given.option) {
      throw arguments.usage("\(given.option.spelling) cannot be used with --task \(task.rawValue)")
    }
    if format.isTable, answerOptions.topK > 1 || labelLimit ?? 1 > 1 {
      throw arguments.usage("a table has room for one answer or label: --top-k needs JSON records")
    }
    if format.isTable || fieldNames != nil, classifyOptions.contributions > 0 {
      throw arguments.usage("--contributions needs JSON records, and no --fields")
    }
    if task == .classify { try ClassifyOptions.checkTogether(arguments) }
    if encoding != nil, !format.isText {
      throw arguments.usage("--encoding cannot be used with --format length-prefixed")
    }
    if encoding != nil, follows, checkpoint != nil {
      throw arguments.usage("--encoding cannot be used with both --follow and --resume")
    }
    if case .text(let replacement)? = entitySearch.action(), isInPlace, let encoding,
      encoding.encoded(String(decoding: replacement, as: UTF8.self)) == nil
    {
      throw arguments.usage("\(encoding.name) does not have all characters of --redact")
    }
    if fieldNames != nil, idsOnly { throw arguments.usage("--fields cannot be used with --ids") }
    try entitySearch.checkTogether(arguments)
    if fieldNames != nil, let option = entitySearch.redactingOption {
      throw arguments.usage("--fields cannot be used with \(option.spelling)")
    }
    if isInPlace, !entitySearch.redacts {
      throw arguments.usage("--in-place needs --redact, --mask, --hash or --pseudonym")
    }
    if checkpoint != nil, entitySearch.pseudonyms != nil, mapping == nil {
      throw arguments.usage("--resume with --pseudonym needs --mapping, which has the names so far")
    }
    if texts.count > 60 { throw arguments.usage("--question is given more than 59 times: use several runs") }
    if checkpoint != nil, output == nil || inputs.contains(where: \.isStandardInput) {
      throw arguments.usage("--resume needs input files and --output")
    }
    if follows, inputs.contains(where: \.isStandardInput) {
      throw arguments.usage("--follow needs an input file")
    }
    if follows, inputs.count > 1 { throw arguments.usage("--follow takes one input file") }
    if !metricsLabels.isEmpty, metrics == nil { throw arguments.usage("--metrics-label needs --metrics") }
  }

  /// True if the result replaces the text, which must not appear in the output.
  var replacesText: Bool {
    isInPlace
      || entitySearch.redacts && !format.isTable && outputField.segments == texts[0].segments
  }

  /// True if the task needs no model.
  var needsNoModel: Bool { task == .entities && !entitySearch.usesModel }

  /// A description of everything that affects the output other than the input and the model. Equivalent
  /// arguments have equal descriptions.
  var meaning: String {
    let questions = questions.map { question in
      switch question {
      case .fixed(let text): "=\(text.string)"
      case .field(let index): "field \(index)"
      }
    }
    let parts: [String] = [
      task.rawValue, "\(format)", "\(texts.map(\.segments))", "\(questions)", "\(outputField.segments)",
      "\(answerOptions)", "\(classifyOptions)", entitySearch.meaning, "\(embedOptions)",
      "\(labelLimit ?? -1)", "\(idsOnly)", "\(fieldNames ?? [])",
      "\(parseSpecialTokens)", "\(coerces) \(nullText) \(isInPlace)", "\(maximumRecordBytes)",
      "\(maximumDocumentBytes)", "\(limits.maxDocumentTokens)", policy.action.rawValue,
      "\(policy.deadLetters != nil)", "\(limits.timeout ?? -1)", "\(limits.maxBytes)", encoding?.name ?? "",
    ]
    return parts.joined(separator: "\n")
  }
}
