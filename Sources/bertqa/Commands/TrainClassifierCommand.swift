import BertQACore

/// `bertqa train-classifier`.
struct TrainClassifierCommand: Command {
  static let name = "train-classifier"
  static let summary = "train a classifier on texts and their labels"

  static let table = CommandTable(
    usages: ["--output DIR [OPTION]... [FILE|-]..."],
    description: [
      "Train a classifier on the labelled texts in each FILE, or in standard input, and write it to DIR, which must "
        + "not exist or be empty; 'bertqa classify --model DIR' uses it. Texts are counted as they are read, so "
        + "files may be larger than memory. Print how good it is when it predicts texts that it has not seen."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(.output, letter: "o", value: "DIR", "the directory to write"),
          OptionRow(.textField, value: "FIELD", "field of the texts; default text"),
          OptionRow(.labelField, value: "FIELD", "field of the labels; default label"),
          OptionRow(
            .groupField, value: "FIELD",
            "field of what a text belongs to, such as its author or source; default: none",
            detail: "The cross-validation then predicts whole groups that it has not seen."),
        ] + RecordFormat.rows(RecordFormat.textNames, byName: true) + [
          OptionRow(
            .onError, value: "ACTION", choices: actions.map(\.key),
            "at a record that is not right: {} it; default fail", detail: "It is reported with its line."),
          OptionRow(.json, "print the report as one JSON object"),
        ]),
      OptionSection(
        "What is counted",
        [
          OptionRow(.minWordLength, value: "N", "code points of a word; default 3"),
          OptionRow(
            .minDistinctWords, value: "N", "texts with fewer are not classified; default 3"),
          OptionRow(.maxNGram, value: "N", "1: words; 2: and pairs of neighbours; default 1"),
          OptionRow(.tfIDF, "weigh counts by TF-IDF", detail: "And scale each text to length 1."),
          OptionRow(.minDocumentCount, value: "N", "leave out words in fewer texts; default 1"),
          OptionRow(
            .maxDocumentFraction, value: "X",
            "leave out words in a larger part of the texts, 0 to 1; default 1"),
          OptionRow(.maxVocabulary, value: "N", "keep the N most frequent words; default 262144"),
        ]),
      OptionSection(
        "How it is trained",
        [
          OptionRow(
            .algorithm, value: "A", choices: algorithms.map(\.key), "{}; default logistic_regression"),
          OptionRow(
            .c, value: "X",
            "logistic regression: the inverse strength of its penalty on weights; default 1"),
          OptionRow(.alpha, value: "X", "naive Bayes: additive smoothing; default 1"),
          OptionRow(.maxIterations, value: "N", "logistic regression; default 1000"),
          OptionRow(.tolerance, value: "X", "its largest gradient at the end; default 1e-4"),
          OptionRow(.folds, value: "N", "parts of the cross-validation; 0: none; default 5"),
          OptionRow(
            .calibrate, "make probabilities as large as the part that is right, by the cross-validation",
            detail: "The order of the labels stays."),
          OptionRow(.seed, value: "N", "of the division into parts; default 0"),
          ModelChoice.runRows[0],
        ]),
    ],
    notes: [
      "White space around labels is removed. The same texts, labels and options give the same files, which come into "
        + "being complete or not at all."
    ],
    exitCodes:
      "0 done; 2 wrong usage, or DIR is not empty; 3 a file cannot be read or has a wrong record, there are "
      + "not two labels, or DIR cannot be written; 4 out of memory, standard output cannot be written, or a defect "
      + "in the program",
    examples: [
      .init("from JSON lines", "bertqa train-classifier tickets.jsonl --text-field body -o my-model"),
      .init(
        "from a table, passing over what is not right",
        "bertqa train-classifier --on-error skip --tf-idf tickets.csv -o my-model"),
    ])

  private static let actions: KeyValuePairs<String, Bool> = ["fail": false, "skip": true]

  private static let algorithms: KeyValuePairs<String, TrainingAlgorithm> = [
    "logistic_regression": .logisticRegression, "naive_bayes": .naiveBayes,
  ]

  private let files: [ArgumentText]
  private let directory: String
  private var options = TrainOptions()
  private var text = FieldPath(member: Array("text".utf8))
  private var label = FieldPath(member: Array("label".utf8))
  private var group: FieldPath?
  /// nil: by the file's name.
  private let format: RecordFormat?
  private var skipsWrongRecords = false
  private let printsJSON: Bool

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try TrainClassifierCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    printsJSON = arguments.has(.json)
    guard let output = arguments.last(.output) else { throw arguments.usage("no --output was given") }
    directory = output.string
    format = try RecordFormat(arguments, among: RecordFormat.textNames)
    for given in arguments.options { try set(given) }
  }

  private mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .textField: text = try FieldPath(given)
    case .labelField: label = try FieldPath(given)
    case .groupField: group = try FieldPath(given)
    case .onError: skipsWrongRecords = try given.choice(from: Self.actions)
    case .algorithm: options.algorithm = try given.choice(from: Self.algorithms)
    case .minWordLength: options.minWordLength = try given.integer()
    case .minDistinctWords: options.minDistinctWords = try given.integer()
    case .maxNGram: options.maxNGram = try given.integer()
    case .tfIDF: options.usesTFIDF = true
    case .minDocumentCount: options.minDocumentCount = try given.integer()
    case .maxDocumentFraction: options.maxDocumentFraction = try given.double()
    case .maxVocabulary: options.maxVocabulary = try given.integer()
    case .c: options.c = try given.double()
    case .alpha: options.alpha = try given.double()
    case .maxIterations: options.maxIterations = try given.integer()
    case .tolerance: options.tolerance = try given.double()
    case .folds: options.folds = try given.integer()
    case .calibrate: options.calibrates = true
    case .seed: options.seed = try given.unsigned()
    case .threads: options.threads = try given.integer()
    default: break
    }
  }

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let progress = Progress(subject: Self.name)
    defer { progress?.clear() }
    var options = options
    options.progress = { stage, fraction in
      progress?.update("\(stage), \(Int(fraction * 100)) %")
    }
    PartialDirectories.remove(of: directory)
    // Before anything is read: a mistake in the options is reported at once.
    let trainer = try ofCore(Self.invocation) { () throws(BertQAError) in
      try WordCountTrainer(options: options)
    }
    var tally = Tally()
    for file in files { try read(file, into: trainer, &tally, progress) }
    progress?.clear()
    if tally.trimmed > 0 { report("white space around \(tally.trimmed) label(s) was removed") }
    if tally.skipped > 0 { report("\(tally.skipped) record(s) were skipped") }
    guard trainer.labelCount > 1 else {
      throw ToolError(
        .input,
        "\(trainer.textCount) text(s) with \(trainer.labelCount) label(s); at least two labels are needed")
    }
    if let group, trainer.groupCount < 2 {
      throw ToolError(.input, "the field '\(group.name)' has one value only; at least two groups are needed")
    }
    let trained = try ofCore(Self.invocation) { () throws(BertQAError) in
      try trainer.finish(modelDirectory: directory)
    }
    progress?.clear()
    output.write(printsJSON ? trained.json(skippedCount: tally.skipped) : trained.lines())
    if !trained.hasConverged {
      report("not converged after \(trained.iterations) iterations; raise --max-iterations or --tolerance")
    }
    return .done
  }

  /// What was not as it should be.
  private struct Tally {
    var skipped = 0
    /// Labels with white space around them.
    var trimmed = 0
  }

  private func read(
    _ file: ArgumentText, into trainer: WordCountTrainer, _ tally: inout Tally, _ progress: Progress?
  ) throws(ToolError) {
    let source = try WholeFile(file)
    let wanted = [text, label] + (group.map { [$0] } ?? [])
    let form = RecordForm(
      format: format ?? RecordFormat(fileName: file.string),
      fields: RecordFields(
        texts: wanted, stringCount: 1, output: FieldPath(member: Array("bertqa".utf8)),
        maximumTextBytes: Int(Int32.max)))
    let reader = try RecordReader(source, form, RecordReader.Limits(recordBytes: Int(Int32.max)))
    let isNamed = files.count > 1 || !file.isStandardInput
    while let block = try reader.next() {
      for record in block.records {
        guard case .data = record.kind else { continue }
        do throws(RecordProblem) {
          if let problem = record.problem { throw problem }
          let fields = block.fields[record.firstField...].prefix(wanted.count).map(block.text)
          let group = fields.dropFirst(2).first.map { Array($0) } ?? []
          try add(fields[0], label: fields[1], group: group, to: trainer, &tally)
        } catch {
          let place = "\(isNamed ? "\(source.input.shown): " : "")line \(record.number)"
          guard skipsWrongRecords else { throw ToolError(.input, "\(place): \(error.message)") }
          tally.skipped += 1
          report("\(place): \(error.message)")
        }
      }
      let part = source.input.size.map { ", \(source.byteCount * 100 / max(1, $0)) %" } ?? ""
      progress?.update("\(trainer.textCount) texts read\(part)")
    }
  }

  private func add(
    _ text: UnsafeBufferPointer<UInt8>, label: UnsafeBufferPointer<UInt8>, group: [UInt8],
    to trainer: WordCountTrainer, _ tally: inout Tally
  ) throws(RecordProblem) {
    let name = String(decoding: label, as: UTF8.self)
    let trimmed = PlainText.trimmed(name)
    if trimmed.isEmpty { throw RecordProblem(.wrongType, "the label is empty") }
    if label.contains(0) { throw RecordProblem(.wrongType, "the label has a NUL") }
    do throws(BertQAError) {
      try trainer.add(text, label: trimmed, group: group)
    } catch {
      throw RecordProblem(.refused, error.messageForTool)
    }
    if trimmed.utf8.count < name.utf8.count { tally.trimmed += 1 }
  }
}
