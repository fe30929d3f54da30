extension WordCountModel {
  /// Writes `config.json`, `vocab.txt` and `model.safetensors`; docs/classification.md describes them.
  func write(to directory: OutputDirectory, options: TrainOptions) throws(BertQAError) {
    try directory.write(JSON.object(configuration(options)).text + "\n", to: "config.json")
    try writeVocabulary(to: directory)
    try writeWeights(to: directory)
  }

  private func configuration(_ options: TrainOptions) -> JSON.Object {
    var names = JSON.Object()
    for (id, label) in labels.enumerated() {
      names.members.append(.init(key: "\(id)", value: .string(label)))
    }
    var training = JSON.Object()
    training["algorithm"] = .string(options.algorithm.description)
    switch options.algorithm {
    case .logisticRegression:
      training["c"] = .number(options.c)
      training["tolerance"] = .number(options.tolerance)
    case .naiveBayes: training["alpha"] = .number(options.alpha)
    }
    training["min_document_count"] = .number(options.minDocumentCount)
    training["max_document_fraction"] = .number(options.maxDocumentFraction)
    training["max_vocabulary"] = .number(options.maxVocabulary)

    var object = JSON.Object()
    object["architectures"] = .array([.string(Architecture.wordCountClassifier.rawValue)])
    object["model_type"] = .string("word_count")
    object["id2label"] = .object(names)
    object["vocab_size"] = .number(featureCount)
    object["min_word_length"] = .number(settings.minWordLength)
    object["min_distinct_words"] = .number(settings.minDistinctWords)
    object["max_ngram"] = .number(settings.maxNGram)
    object["tf_idf"] = .bool(settings.usesTFIDF)
    object["training"] = .object(training)
    return object
  }

  /// One word or pair a line, in the order of the features.
  private func writeVocabulary(to directory: OutputDirectory) throws(BertQAError) {
    var text = GrowableBuffer<UInt8>()
    for feature in 0..<featureCount {
      let word = table.word(feature)
      guard let base = word.baseAddress else { continue }
      try text.append(base, count: word.count)
      try text.append(UInt8(ascii: "\n"))
    }
    try directory.write(UnsafeRawBufferPointer(text.elements), to: "vocab.txt")
  }

  private func writeWeights(to directory: OutputDirectory) throws(BertQAError) {
    typealias Tensor = SafetensorsLayout.Tensor
    let type = SafetensorsType(DataType.f32)
    var tensors = [
      Tensor(name: Names.weight, type: type, shape: [labelCount, featureCount]),
      Tensor(name: Names.bias, type: type, shape: [labelCount]),
    ]
    if settings.usesTFIDF { tensors.append(Tensor(name: Names.idf, type: type, shape: [featureCount])) }
    var writer = try SafetensorsWriter(directory.makeFile("model.safetensors"), tensors)
    let row = try GrowableBuffer<Float>(repeating: 0, count: featureCount)
    for label in 0..<labelCount {
      for feature in 0..<featureCount { row[feature] = weights[feature * labelCount + label] }
      try writer.append(UnsafeBufferPointer(row.elements), to: Names.weight)
    }
    try bias.withUnsafeBufferPointer { bias throws(BertQAError) in try writer.append(bias, to: Names.bias) }
    if settings.usesTFIDF { try writer.append(UnsafeBufferPointer(idf.elements), to: Names.idf) }
    try writer.finish()
  }

  /// Of the tensors.
  enum Names {
    static let module = "classifier"
    static let weight = "classifier.weight"
    static let bias = "classifier.bias"
    static let idf = "idf"
  }
}

extension JSON {
  fileprivate static func number(_ value: Int) -> JSON {
    .number(Number(double: Double(value), integer: Int64(value)))
  }

  fileprivate static func number(_ value: Double) -> JSON { .number(Number(double: value, integer: nil)) }
}
