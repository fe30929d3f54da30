extension WordCountModel {
  /// Reads a directory that `write` made. Checks everything, because the files are untrusted.
  /// - Parameter reader: `config.json`.
  static func load(
    _ directory: ModelDirectory, _ reader: ObjectReader
  ) throws(BertQAError) -> WordCountModel {
    let settings = try WordCountSettings(reader)
    let labels = try reader.classifierLabels()
    let monitor = directory.monitor
    let table = try vocabulary(directory.file("vocab.txt", limit: ModelFile.vocabularyLimit), monitor)
    let featureCount = table.count
    if let size = try reader.integer("vocab_size", in: 1...vocabularyLimit), size != featureCount {
      throw BertQAError(
        .invalidModel,
        "\(directory.path(of: "vocab.txt")): \(featureCount) lines, but config.json has \"vocab_size\" \(size)"
      )
    }
    var loader = WeightLoader(try Checkpoint(directory), prefix: "", monitor)
    defer { withExtendedLifetime(loader) {} }
    // The layer has no name of its own, because Swift 6.0.3 fails on that together with `table`.
    let weights = try features(
      of: loader.linear(Names.module, outs: labels.count, ins: featureCount, hasBias: false).weight, monitor)
    let bias = try floats(of: try loader.vector(Names.bias, count: labels.count))
    var idf = GrowableBuffer<Float>()
    if settings.usesTFIDF {
      idf = try floats(of: try loader.vector(Names.idf, count: featureCount))
      for weight in idf.elements where weight < 0 {
        throw BertQAError(
          .invalidModel,
          "\(directory.path(of: "model.safetensors")): tensor \"\(Names.idf)\" has \(weight), below 0")
      }
    }
    return WordCountModel(
      settings: settings, labels: labels, table: table, weights: weights, bias: Array(bias.elements),
      idf: idf,
      temperature: try LengthTemperature(reader))
  }

  private static func vocabulary(
    _ file: ModelFile, _ monitor: CallMonitor?
  ) throws(BertQAError) -> TermTable {
    try file.withBytes { bytes throws(BertQAError) in
      var table = TermTable()
      var rest = bytes[...]
      while !rest.isEmpty {
        if table.count % checkInterval == 0 { try monitor?.check() }
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        let term = UnsafeBufferPointer(rebasing: rest[..<end])
        let line = table.count
        guard isTerm(term), line < vocabularyLimit else {
          throw BertQAError(
            .invalidModel,
            "\(file.path): line \(line + 1) is neither a word nor a pair of words: "
              + quoted(String(decoding: term.prefix(100), as: UTF8.self)))
        }
        guard try table.insert(term) == line else {
          throw BertQAError(
            .invalidModel,
            "\(file.path): line \(line + 1) occurs twice: \(quoted(String(decoding: term, as: UTF8.self)))")
        }
        rest = rest[min(end + 1, rest.endIndex)...]
      }
      guard table.count > 0 else { throw BertQAError(.invalidModel, "\(file.path): the vocabulary is empty") }
      return table
    }
  }

  /// Ids in files and matrices have 32 bits.
  static let vocabularyLimit = 1 << 28

  /// The number of terms between two polls of the monitor.
  private static let checkInterval = 4096

  private static func isTerm(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let words = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    return words.count <= 2
      && words.allSatisfy { (1...WordScanner.maximumBytes).contains($0.count) && !$0.contains(0) }
      && UTF8Codec.isValid(bytes)
  }

  /// Transposes a matrix [label][feature] to [feature][label].
  private static func features(
    of matrix: TensorView, _ monitor: CallMonitor?
  ) throws(BertQAError) -> GrowableBuffer<Float> {
    let (labels, features) = (matrix.rowCount, matrix.rowWidth)
    let row = try GrowableBuffer<Float>(repeating: 0, count: features)
    let result = try GrowableBuffer<Float>(repeating: 0, count: labels * features)
    for label in 0..<labels {
      try monitor?.check()
      matrix.copyFloats(rows: label..<label + 1, to: row.base)
      try matrix.checkFinite(row.elements)
      for feature in 0..<features { result[feature * labels + label] = row[feature] }
    }
    return result
  }

  private static func floats(of vector: TensorView) throws(BertQAError) -> GrowableBuffer<Float> {
    let result = try GrowableBuffer<Float>(repeating: 0, count: vector.rowCount)
    vector.copyFloats(rows: 0..<vector.rowCount, to: result.base)
    try vector.checkFinite(result.elements)
    return result
  }
}

extension WordCountSettings {
  fileprivate init(_ reader: ObjectReader) throws(BertQAError) {
    minWordLength = try reader.integer("min_word_length", in: 1...WordScanner.maximumBytes) ?? minWordLength
    minDistinctWords = try reader.integer("min_distinct_words", in: 1...Int(Int32.max)) ?? minDistinctWords
    maxNGram = try reader.integer("max_ngram", in: 1...2) ?? maxNGram
    usesTFIDF = try reader.bool("tf_idf") ?? usesTFIDF
  }
}

// MARK: - Writing

extension WordCountModel {
  /// Writes `config.json`, `vocab.txt` and `model.safetensors`; docs/classification.md describes them.
  /// - Parameter training: a record of the settings of the training.
  func write(to directory: OutputDirectory, training: JSON.Object) throws(BertQAError) {
    try directory.write(JSON.object(configuration(training)).text + "\n", to: "config.json")
    try writeVocabulary(to: directory)
    try writeWeights(to: directory)
  }

  private func configuration(_ training: JSON.Object) -> JSON.Object {
    var object = JSON.Object()
    object["architectures"] = .array([.string(Architecture.wordCountClassifier.name)])
    object["model_type"] = .string("word_count")
    object["id2label"] = .object(JSON.Object(labels: labels))
    object["vocab_size"] = .number(featureCount)
    object["min_word_length"] = .number(settings.minWordLength)
    object["min_distinct_words"] = .number(settings.minDistinctWords)
    object["max_ngram"] = .number(settings.maxNGram)
    object["tf_idf"] = .bool(settings.usesTFIDF)
    if temperature != .one { object["temperature"] = .object(temperature.json) }
    object["training"] = .object(training)
    return object
  }

  /// Writes one term per line, in the order of the features.
  private func writeVocabulary(to directory: OutputDirectory) throws(BertQAError) {
    var text = GrowableBuffer<UInt8>()
    for feature in 0..<featureCount {
      let term = table.term(feature)
      guard let base = term.baseAddress else { continue }
      try text.append(base, count: term.count)
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
    try bias.withElements { bias throws(BertQAError) in try writer.append(bias, to: Names.bias) }
    if settings.usesTFIDF { try writer.append(UnsafeBufferPointer(idf.elements), to: Names.idf) }
    try writer.finish()
  }

  /// The names of the tensors.
  fileprivate enum Names {
    static let module = "classifier"
    static let weight = "classifier.weight"
    static let bias = "classifier.bias"
    static let idf = "idf"
  }
}
