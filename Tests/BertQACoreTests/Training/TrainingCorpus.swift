import Testing

@testable import BertQACore

/// Random texts of made-up words, some of which tell the label.
struct TrainingCorpus {
  private(set) var texts: [String] = []
  private(set) var labels: [String] = []

  init(count: Int, labelCount: Int, words: Int = 200, seed: UInt64 = 1) {
    var generator = SplitMix64(seed: seed)
    for _ in 0..<count {
      let label = generator.next(below: labelCount)
      var text = ""
      for _ in 0..<1 + generator.next(below: 30) {
        // Half of the words are the label's own.
        let word =
          generator.next(below: 2) == 0
          ? generator.next(below: words) : label * 20 + generator.next(below: 20)
        text += "wörd\(word)\(generator.next(below: 5) == 0 ? ", " : " ")"
      }
      texts.append(text)
      labels.append("label \(label)")
    }
  }

  mutating func repeatWords(_ count: Int) {
    texts = texts.map { Array(repeating: $0, count: count).joined(separator: " ") }
  }

  func trainer(_ options: TrainOptions) throws -> ClassifierTrainer {
    let trainer = try ClassifierTrainer(options: options)
    for (text, label) in zip(texts, labels) { try trainer.add(text, label: label) }
    return trainer
  }

  /// Trains, and loads what was written.
  func context(_ directory: TemporaryDirectory, _ options: TrainOptions = .quick) throws -> Context {
    _ = try trainer(options).finish(modelDirectory: directory.file("model"))
    return try Context(modelDirectory: directory.file("model"))
  }
}

extension TrainOptions {
  /// Without cross-validation.
  static var quick: TrainOptions {
    var options = TrainOptions()
    options.folds = 0
    return options
  }
}

extension ClassifierTrainer {
  /// Trains on word counts.
  func trained(_ call: CallOptions = CallOptions()) throws -> (WordCountModel, TrainingReport) {
    let (model, report) = try train(call, CallMonitor(call))
    return (try #require(model as? WordCountModel), report)
  }
}
