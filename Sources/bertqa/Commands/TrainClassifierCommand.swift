import BertQACore
import Glibc

/// Implements `bertqa train-classifier`.
struct TrainClassifierCommand: Command {
  static let name = "train-classifier"
  static let summary = "train a classifier on texts and their labels"

  static let table = CommandTable(
    usages: ["--output DIR [OPTION]... [FILE|-]..."],
    operands: .files,
    description: [
      "Train a classifier on the labelled texts in each FILE or in standard input and write it to DIR, which must "
        + "not exist or be empty. 'bertqa classify --model DIR' uses it. Words are counted as texts are read, so "
        + "files may be larger than memory. Print the accuracy on texts that the classifier has not seen (cross-validation)."
    ],
    sections: [
      OptionSection(
        "",
        [
          OptionRow(.output, letter: "o", value: "DIR", use: .directory, "the directory to write"),
          OptionRow(.textField, value: "FIELD", "field of the text; default text"),
          OptionRow(.labelField, value: "FIELD", "field of the label; default label"),
          OptionRow(
            .groupField, value: "FIELD",
            "field of the text's group, such as its author or source; default: none",
            detail: "The cross-validation then predicts whole unseen groups."),
        ] + RecordFormat.rows(RecordFormat.textNames) + [
          OptionRow(
            .onError, value: "ACTION", choices: actions.map(\.key),
            "what to do with an invalid record: {}; default fail",
            detail: "The record is reported with its line."),
          OptionRow(
            .holdout, value: "FILE", use: .read,
            "also print the accuracy on the labelled texts of FILE, which are not used for training",
            detail:
              "FILE has the form of the other files. Each label has precision, recall and F1 as in the cross-validation; "
              + "texts with too few words for the model count as wrong. Labels that the model does not know "
              + "have a recall of 0. FILE is checked before the training."),
          OptionRow(.json, "print the report as one JSON object"),
          HTMLText.row("also write the report as an HTML page with a picture of the confusion matrix"),
        ]),
      OptionSection(
        "How a text becomes numbers",
        [
          OptionRow(
            .features, value: "F", choices: features.map(\.key),
            "the counts of its words, its vector by an embedding model, or whichever of the two is more accurate in "
              + "the cross-validation: {}; default words"),
          OptionRow(
            .model, letter: "m", value: "DIR", use: .model,
            "directory or name of the embedding model; default: the one installed with bertqa",
            detail: "Its files are copied into the classifier's directory."),
        ]),
      OptionSection(
        "Which words are counted",
        [
          OptionRow(.minWordLength, value: "N", "minimum number of code points of a word; default 3"),
          OptionRow(
            .minDistinctWords, value: "N",
            "minimum number of distinct words; texts with fewer are not classified; default 3"),
          OptionRow(.maxNGram, value: "N", "1: count words; 2: also pairs of neighbouring words; default 1"),
          OptionRow(.tfIDF, "weight counts by TF-IDF", detail: "Each text is then scaled to length 1."),
          OptionRow(.minDocumentCount, value: "N", "leave out words that occur in fewer texts; default 1"),
          OptionRow(
            .maxDocumentFraction, value: "X",
            "leave out words that occur in a larger fraction of the texts, 0 to 1; default 1"),
          OptionRow(.maxVocabulary, value: "N", "keep the N most frequent words; default 262144"),
        ]),
      OptionSection(
        "How it is trained",
        [
          OptionRow(
            .algorithm, value: "A", choices: algorithms.map(\.key),
            "training algorithm of word counts: {}; default logistic_regression"),
          OptionRow(
            .c, value: "X",
            "logistic regression: inverse strength of the penalty on weights; default 1, for vectors 10"),
          OptionRow(.alpha, value: "X", "naive Bayes: additive smoothing; default 1"),
          OptionRow(
            .maxIterations, value: "N", "logistic regression: maximum number of iterations; default 1000"),
          OptionRow(
            .tolerance, value: "X", "logistic regression: largest gradient component at the end; default 1e-4"
          ),
          OptionRow(.folds, value: "N", "number of folds of the cross-validation; 0: none; default 5"),
          OptionRow(
            .calibrate, "calibrate probabilities by the cross-validation",
            detail:
              "A probability then matches the fraction of right labels. The order of labels does not change."),
          OptionRow(.seed, value: "N", "seed of the division into folds; default 0"),
          ModelChoice.runRows[0],
        ]),
      OptionSection(
        "Limits; a training that exceeds one fails with exit code 3 and writes nothing",
        [
          CallLimits.timeoutRow("the training", includesLoading: true),
          CallLimits.maxBytesRow("the texts and the training"),
          OptionRow(
            .maxDocumentTokens, value: "N", "maximum number of words of a text; default: none",
            detail: "A text with more words is an invalid record."),
        ]),
    ],
    notes: [
      "White space around labels is removed. The same texts, labels and options produce the same files. DIR is written "
        + "completely or not at all."
    ],
    exitCodes:
      "0 done; 2 wrong usage, or DIR is not empty; 3 a file cannot be read or has an invalid record, there are "
      + "fewer than two labels, or DIR cannot be written; 4 out of memory, standard output cannot be written, or a defect "
      + "in the program",
    examples: [
      .init(
        "from JSON lines, with the accuracy on a held-out file",
        "bertqa train-classifier tickets.jsonl --holdout june.jsonl -o my-model"),
      .init(
        "from a table, without its invalid rows",
        "bertqa train-classifier --on-error skip --tf-idf tickets.csv -o my-model"),
    ])

  private static let actions: KeyValuePairs<String, Bool> = ["fail": false, "skip": true]

  private static let algorithms: KeyValuePairs<String, TrainingAlgorithm> = [
    "logistic_regression": .logisticRegression, "naive_bayes": .naiveBayes,
  ]

  private static let features = TrainingFeatures.allCases.map { (key: $0.description, value: $0) }

  private let files: [ArgumentText]
  private let directory: String
  private var options = TrainOptions()
  private let holdout: ArgumentText?
  private let textField: ParsedOption?
  private let labelField: ParsedOption?
  private let groupField: ParsedOption?
  /// nil chooses the format by the file's name.
  private let format: RecordFormat?
  private let encoding: TextEncoding?
  private var skipsWrongRecords = false
  private let limits: CallLimits
  private let printsJSON: Bool
  /// The path of the HTML report; nil for none.
  private let page: String?

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try TrainClassifierCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    printsJSON = arguments.has(.json)
    page = arguments.last(.html)?.string
    guard let output = arguments.last(.output) else { throw arguments.usage("no --output was given") }
    directory = output.string
    format = try RecordFormat(arguments, among: RecordFormat.textNames)
    encoding = try TextEncoding.given(arguments)
    holdout = arguments.last(.holdout)?.text
    textField = arguments.last(.textField)
    labelField = arguments.last(.labelField)
    groupField = arguments.last(.groupField)
    limits = try CallLimits(arguments)
    for given in arguments.options { try set(given) }
    for file in files { _ = try form(of: file, isGrouped: true) }
    if let holdout { _ = try form(of: holdout, isGrouped: false) }
    try checkHoldout(arguments)
  }

  /// Rejects held-out files that are also training files: they would not measure the quality on unseen texts.
  private func checkHoldout(_ arguments: ParsedArguments) throws(ToolError) {
    guard let holdout else { return }
    let place = FilePlace(holdout)
    // It is read twice.
    guard !holdout.isStandardInput, place.identity == nil || place.kind == S_IFREG else {
      throw arguments.usage("--holdout needs a regular file")
    }
    for file in files where place.identity != nil && place.isSame(as: FilePlace(file)) {
      throw arguments.usage("\(holdout.string) is also a training file: give --holdout another")
    }
  }

  /// Returns the format of a file's records and the fields for texts, labels and, if present, groups.
  private func form(of file: ArgumentText, isGrouped: Bool) throws(ToolError) -> RecordForm {
    let format = format ?? .named(by: file.string) ?? .jsonLines
    var texts = [
      try FieldPath(textField, otherwise: "text", isColumn: format.isTable),
      try FieldPath(labelField, otherwise: "label", isColumn: format.isTable),
    ]
    if isGrouped, let groupField { texts.append(try FieldPath(groupField, isColumn: format.isTable)) }
    return RecordForm(
      format: format,
      fields: RecordFields(
        texts: texts, stringCount: 1,
        output: FieldPath(member: Array("bertqa".utf8)), maximumTextBytes: InputText.limit),
      isChecked: encoding != nil)
  }

  private mutating func set(_ given: ParsedOption) throws(ToolError) {
    switch given.option {
    case .onError: skipsWrongRecords = try given.choice(from: Self.actions)
    case .features: options.features = try given.choice(from: Self.features)
    case .model: options.embeddingModel = try given.path()
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
    options.call = limits.calls
    options.progress = { stage, fraction in
      progress?.update("\(stage), \(Int(fraction * 100)) %", fraction: fraction)
    }
    PartialDirectories.remove(of: directory)
    // Reports invalid options and a directory that cannot be written before anything is read.
    let trainer = try ofCore(Self.invocation) { () throws(BertQAError) in
      _ = try OutputDirectory(path: directory)
      return try ClassifierTrainer(options: options)
    }
    var tally = Tally()
    for file in files {
      try read(file, &tally, { "\(trainer.textCount) texts read\($0)" }, progress, isGrouped: true) {
        (fields, tally) throws(RecordProblem) in
        try Self.add(fields, to: trainer, &tally)
      }
    }
    // Reports its errors before the time for training is spent.
    var checked = Tally()
    if let holdout {
      try read(holdout, &checked, { "texts held out\($0)" }, progress) {
        (fields, tally) throws(RecordProblem) in
        _ = try Self.name(of: fields[1])
        tally.texts += 1
      }
      if checked.texts == 0 { throw ToolError(.input, "\(holdout.string) has no text to hold out") }
      tally.skipped += checked.skipped
    }
    progress?.clear()
    if tally.trimmed > 0 { report("white space around \(tally.trimmed) label(s) was removed") }
    if tally.skipped > 0 { report("\(tally.skipped) record(s) were skipped") }
    guard trainer.labelCount > 1 else {
      throw ToolError(
        .input,
        "\(trainer.textCount) text(s) with \(trainer.labelCount) label(s); at least two labels are needed")
    }
    if let groupField, trainer.groupCount < 2 {
      throw ToolError(
        .input, "the field '\(groupField.string)' has one value only; at least two groups are needed")
    }
    let trained = try ofCore(Self.invocation) { () throws(BertQAError) in
      try trainer.finish(modelDirectory: directory)
    }
    let held = try holdout.map { file throws(ToolError) in
      try evaluate(on: file, options.call, progress)
    }
    progress?.clear()
    if let page { try FileWriting.replace(page, with: TrainingPage(report: trained, holdout: held).text) }
    output.write(printsJSON ? trained.json(skippedCount: tally.skipped, held) : trained.lines(held))
    if !trained.hasConverged {
      report("not converged after \(trained.iterations) iterations; raise --max-iterations or --tolerance")
    }
    return .done
  }

  /// The maximum number of bytes of a record.
  private static let largestRecord = InputText.limit

  /// Counts of texts and of irregular records.
  private struct Tally {
    var texts = 0
    var skipped = 0
    /// The number of labels with surrounding white space.
    var trimmed = 0
  }

  /// - Parameters:
  ///   - status: the progress message, given how much of the file was read.
  ///   - isSilent: true if invalid records were already reported.
  ///   - body: receives a text, its label and, if present, its group.
  private func read(
    _ file: ArgumentText, _ tally: inout Tally, _ status: (String) -> String, _ progress: Progress?,
    isSilent: Bool = false, isGrouped: Bool = false,
    _ body: ([UnsafeBufferPointer<UInt8>], inout Tally) throws(RecordProblem) -> Void
  ) throws(ToolError) {
    let source = try WholeFile(file, encoding)
    let form = try form(of: file, isGrouped: isGrouped)
    let reader = try RecordReader(
      source, form, RecordReader.Limits(recordBytes: Self.largestRecord))
    let isNamed = files.count > 1 || !file.isStandardInput
    while let block = try reader.next() {
      for record in block.records {
        switch record.kind {
        case .data, .part(isFirst: true, isLast: _): break
        case .header, .repeatedHeader, .blank, .part(isFirst: false, isLast: _): continue
        }
        do throws(RecordProblem) {
          if case .part = record.kind {
            throw RecordProblem(
              .recordTooLarge, "the record has more than \(Self.largestRecord) bytes: split it")
          }
          if let problem = record.problem { throw problem }
          try body(block.fields[record.firstField...].prefix(form.fields.texts.count).map(block.text), &tally)
        } catch {
          let place = "\(isNamed ? "\(source.input.shown): " : "")line \(record.number)"
          guard skipsWrongRecords, error.kind != .stopped else {
            throw ToolError(.input, "\(place): \(error.message)")
          }
          tally.skipped += 1
          if !isSilent { report("\(place): \(error.message)") }
        }
      }
      let size = source.input.isVerbatim ? source.input.size : nil
      progress?.update(status(size.map { ", \(source.byteCount * 100 / max(1, $0)) %" } ?? ""))
    }
  }

  /// Evaluates the new model on held-out texts.
  private func evaluate(
    on file: ArgumentText, _ call: CallOptions, _ progress: Progress?
  ) throws(ToolError) -> Holdout {
    var options = ClassifyOptions()
    options.call = call
    let context = try ofCore(Self.invocation) { () throws(BertQAError) in
      try Context(modelDirectory: directory)
    }
    var holdout = Holdout()
    var tally = Tally()
    try read(file, &tally, { "evaluating\($0)" }, progress, isSilent: true) {
      (fields, _) throws(RecordProblem) in
      let name = try Self.name(of: fields[1])
      do throws(BertQAError) {
        holdout.add(try context.classify(TextPair(text: fields[0]), options: options), label: name.trimmed)
      } catch {
        throw Self.problem(error)
      }
    }
    return holdout
  }

  /// Returns a label without surrounding white space, and true if it had any.
  private static func name(
    of label: UnsafeBufferPointer<UInt8>
  ) throws(RecordProblem) -> (trimmed: String, hadSpace: Bool) {
    // Repaired, different labels could become one.
    guard label.isValidUTF8 else {
      throw RecordProblem(.invalidRecord, "the label is \((nil as TextEncoding?).flaw)")
    }
    let name = String(decoding: label, as: UTF8.self)
    let trimmed = PlainText.trimmed(name)
    if trimmed.isEmpty { throw RecordProblem(.wrongType, "the label is empty") }
    if label.contains(0) { throw RecordProblem(.wrongType, "the label has a NUL") }
    return (trimmed, trimmed.utf8.count < name.utf8.count)
  }

  private static func add(
    _ fields: [UnsafeBufferPointer<UInt8>], to trainer: ClassifierTrainer, _ tally: inout Tally
  ) throws(RecordProblem) {
    let name = try name(of: fields[1])
    do throws(BertQAError) {
      try trainer.add(fields[0], label: name.trimmed, group: fields.count > 2 ? Array(fields[2]) : [])
    } catch {
      throw problem(error)
    }
    if name.hadSpace { tally.trimmed += 1 }
  }

  /// Distinguishes an error of the record from one that ends the training.
  private static func problem(_ error: BertQAError) -> RecordProblem {
    let isOfRecord =
      ![.deadlineExceeded, .outOfMemory].contains(error.status) && error.argument != "max_bytes"
    return RecordProblem(isOfRecord ? .refused : .stopped, error.messageForTool)
  }
}
