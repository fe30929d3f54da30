import BertQACore

/// `bertqa train-classifier`, its arguments read.
struct TrainClassifierCommand: Command {
  static let name = "train-classifier"
  static let summary = "train a classifier on texts and their labels"
  static let options: [Option] = [
    .out, .textField, .labelField, .format, .delimiter, .json, .algorithm, .minWordLength, .minDistinctWords,
    .maxNGram, .tfIDF, .minDocumentCount, .maxDocumentFraction, .maxVocabulary, .c, .alpha, .maxIterations,
    .tolerance, .folds, .seed, .threads,
  ]

  private let files: [ArgumentText]
  private let directory: String
  private var trainOptions = TrainOptions()
  private var fields = (text: "text", label: "label")
  private var format: RecordFormat?
  private var delimiter: UInt8?
  private let printsJSON: Bool

  static func run(_ arguments: ParsedArguments, to output: Output) throws(ToolError) -> ExitCode {
    try TrainClassifierCommand(arguments).run(to: output)
  }

  private init(_ arguments: ParsedArguments) throws(ToolError) {
    files = arguments.operands.isEmpty ? [.standardInput] : arguments.operands
    printsJSON = arguments.has(.json)
    var directory: String?
    for case (.out, let value?) in arguments.options { directory = value.string }
    guard let directory else { throw .usage("no --out was given", command: Self.invocation) }
    self.directory = directory
    for (option, value) in arguments.options { try set(option, value) }
    if let delimiter { format = .csv(delimiter: delimiter) }
  }

  private mutating func set(_ option: Option, _ value: ArgumentText?) throws(ToolError) {
    func integer() throws(ToolError) -> Int {
      try value?.integer(of: option, command: Self.invocation) ?? 0
    }
    func number() throws(ToolError) -> Double {
      try value?.double(of: option, command: Self.invocation) ?? 0
    }
    switch option {
    case .textField: fields.text = value?.string ?? ""
    case .labelField: fields.label = value?.string ?? ""
    case .format: format = try value?.choice(of: option, from: Self.formats, command: Self.invocation)
    case .delimiter: delimiter = try value?.delimiter(of: option, command: Self.invocation)
    case .algorithm:
      trainOptions.algorithm =
        try value?.choice(of: option, from: Self.algorithms, command: Self.invocation) ?? .logisticRegression
    case .minWordLength: trainOptions.minWordLength = try integer()
    case .minDistinctWords: trainOptions.minDistinctWords = try integer()
    case .maxNGram: trainOptions.maxNGram = try integer()
    case .tfIDF: trainOptions.usesTFIDF = true
    case .minDocumentCount: trainOptions.minDocumentCount = try integer()
    case .maxDocumentFraction: trainOptions.maxDocumentFraction = try number()
    case .maxVocabulary: trainOptions.maxVocabulary = try integer()
    case .c: trainOptions.c = try number()
    case .alpha: trainOptions.alpha = try number()
    case .maxIterations: trainOptions.maxIterations = try integer()
    case .tolerance: trainOptions.tolerance = try number()
    case .folds: trainOptions.folds = try integer()
    case .seed: trainOptions.seed = try value?.unsigned(of: option, command: Self.invocation) ?? 0
    case .threads: trainOptions.threads = try integer()
    default: break
    }
  }

  static var choices: [Option: [String]] {
    [.format: formats.map(\.key), .algorithm: algorithms.map(\.key)]
  }

  private static let formats: KeyValuePairs<String, RecordFormat?> = [
    "jsonl": .jsonLines, "csv": .csv(delimiter: UInt8(ascii: ",")),
    "tsv": .csv(delimiter: UInt8(ascii: "\t")),
  ]

  private static let algorithms: KeyValuePairs<String, TrainingAlgorithm> = [
    "logistic_regression": .logisticRegression, "naive_bayes": .naiveBayes,
  ]

  private func run(to output: Output) throws(ToolError) -> ExitCode {
    let progress = Progress(subject: Self.name)
    defer { progress?.clear() }
    var options = trainOptions
    options.progress = { stage, fraction in
      progress?.update("\(stage), \(Int(fraction * 100)) %")
    }
    // Before anything is read: a mistake in the options is reported at once.
    let trainer = try ofCore { () throws(BertQAError) in try WordCountTrainer(options: options) }
    for file in files { try read(file, into: trainer, progress) }
    guard trainer.labelCount > 1 else {
      throw ToolError(
        .input,
        "\(trainer.textCount) text(s) with \(trainer.labelCount) label(s); at least two labels are needed")
    }
    let trained = try ofCore { () throws(BertQAError) in try trainer.finish(modelDirectory: directory) }
    progress?.clear()
    output.write(printsJSON ? trained.json() : trained.lines())
    if !trained.hasConverged {
      report("not converged after \(trained.iterations) iterations; raise --max-iterations or --tolerance")
    }
    return .done
  }

  private func read(
    _ file: ArgumentText, into trainer: WordCountTrainer, _ progress: Progress?
  ) throws(ToolError) {
    let records = try RecordFile(file, format: format)
    try records.forEach([fields.text, fields.label]) { bytes, size in
      let part = size.map { ", \(bytes * 100 / max(1, $0)) %" } ?? ""
      progress?.update("\(trainer.textCount) texts read\(part)")
    } _: { values, line throws(ToolError) in
      guard !values[1].isEmpty, !values[1].contains(0) else {
        throw ToolError(.input, "line \(line): the label is empty or has a NUL")
      }
      let label = String(decoding: values[1], as: UTF8.self)
      try ofCore { () throws(BertQAError) in
        try values[0].withUnsafeBufferPointer { text throws(BertQAError) in
          try trainer.add(text, label: label)
        }
      }
    }
  }

  private func ofCore<Result>(_ body: () throws(BertQAError) -> Result) throws(ToolError) -> Result {
    do throws(BertQAError) {
      return try body()
    } catch {
      throw ToolError(error, command: Self.invocation)
    }
  }
}
