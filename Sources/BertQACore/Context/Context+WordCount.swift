extension Context {
  static func loadWordCount(
    _ directory: String, _ options: ContextOptions
  ) throws(BertQAError) -> (Engine, ModelInfo) {
    let model = try WordCountModel.load(ModelDirectory(path: directory))
    let classifier = WordCountClassifier(model, threadLimit: options.threads)
    // Now, while fork() is held back: see `ForkGuard`. What it says is of no interest.
    var warmUp = ClassifyOptions()
    warmUp.contributions = 1
    _ = try withBytes(of: "all the words") { text throws(BertQAError) in
      try classifier.classify([TextPair(text: text)], warmUp)
    }
    options.log?(
      "loaded \(Architecture.wordCountClassifier.rawValue) from \(directory): \(model.labelCount) labels, "
        + "\(model.featureCount) words, \(classifier.threadCount) thread(s)")
    let info = ModelInfo(
      directory: directory, architecture: Architecture.wordCountClassifier.rawValue, task: .classify,
      precision: nil, instructionSet: nil, threads: classifier.threadCount,
      vocabularySize: model.featureCount, hiddenSize: 0, layerCount: 0, headCount: 0, intermediateSize: 0,
      maxPositions: 0, lowercase: true, noAnswerThreshold: 0, labels: model.labels)
    return (.wordCount(classifier), info)
  }
}
