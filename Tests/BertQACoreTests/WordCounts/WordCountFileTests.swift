import Testing

@testable import BertQACore

@Suite struct WordCountFileTests {
  /// A model of two labels and TF-IDF, of which parts are then replaced.
  private func makeModel() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    var options = TrainOptions.quick
    options.usesTFIDF = true
    options.maxNGram = 2
    let trainer = try ClassifierTrainer(options: options)
    for (text, label) in [("red green blue", "colour"), ("one two three", "number")] {
      try trainer.add(text, label: label)
    }
    _ = try trainer.finish(modelDirectory: directory.file("model"))
    return directory
  }

  private func failure(_ directory: TemporaryDirectory) -> String {
    do {
      _ = try Context(modelDirectory: directory.file("model"))
      return ""
    } catch {
      return "\(error.status): \(error.message)"
    }
  }

  @Test func isAsDocumented() throws {
    let directory = try makeModel()
    #expect(try directory.names == ["model"])
    #expect(
      try directory.text("model/vocab.txt")
        == "blue\ngreen\ngreen blue\none\none two\nred\nred green\nthree\ntwo\ntwo three\n")
    let config = try directory.text("model/config.json")
    for member in [
      #""model_type": "word_count""#, #""0": "colour""#, #""1": "number""#, #""vocab_size": 10"#,
      #""min_word_length": 3"#, #""min_distinct_words": 3"#, #""max_ngram": 2"#, #""tf_idf": true"#,
      #""algorithm": "logistic_regression""#,
    ] {
      #expect(config.contains(member), "\(member)")
    }
    let file = try Safetensors(ModelFile(path: directory.file("model/model.safetensors")))
    #expect(
      file.entries.mapValues(\.shape) == ["classifier.weight": [2, 10], "classifier.bias": [2], "idf": [10]])
    #expect(failure(directory) == "")
  }

  @Test(arguments: [
    (#""vocab_size": 10"#, #""vocab_size": 9"#, "10 lines, but config.json has \"vocab_size\" 9"),
    (#""id2label""#, #""labels""#, "\"id2label\" has fewer than two labels"),
    (#""1": "number""#, #""2": "number""#, "has the id \"2\""),
    (#""1": "number""#, #""1": """#, "neither blank nor with a NUL"),
    (#""1": "number""#, #""1": "a\u0000b""#, "neither blank nor with a NUL"),
    (#""1": "number""#, #""1": " \t""#, "neither blank nor with a NUL"),
    (#""1": "number""#, #""1": 7"#, "expected a label's name"),
    (#""max_ngram": 2"#, #""max_ngram": 3"#, "\"max_ngram\" is 3"),
    (#""min_word_length": 3"#, #""min_word_length": 0"#, "\"min_word_length\" is 0"),
    (#""min_distinct_words": 3"#, #""min_distinct_words": "3""#, "\"min_distinct_words\" is"),
    (#""tf_idf": true"#, #""tf_idf": 1"#, "\"tf_idf\" is 1"),
    (#""tf_idf": true"#, #""tf_idf": true, "temperature": 2"#, "\"temperature\" is 2, expected an object"),
    (
      #""tf_idf": true"#, #""tf_idf": true, "temperature": {"intercept": 11}"#,
      "\"intercept\" is 11.0, expected"
    ),
    (#""tf_idf": true"#, #""tf_idf": true, "temperature": {"slope": -1e9}"#, "\"slope\" is"),
    (#""tf_idf": true"#, #""tf_idf": true, "temperature": {"slope": 1e999}"#, "number out of range"),
    (#""tf_idf": true"#, #""tf_idf": true, "temperature": {"slope": "1"}"#, "\"slope\" is"),
  ])
  func refusesConfiguration(member: String, replacement: String, message: String) throws {
    let directory = try makeModel()
    let config = try directory.text("model/config.json")
    let parts = config.split(separator: member, maxSplits: 1, omittingEmptySubsequences: false)
    try #require(parts.count == 2)
    try directory.write(parts.joined(separator: replacement), to: "model/config.json")
    #expect(
      failure(directory).hasPrefix("invalidModel") && failure(directory).contains(message),
      "\(failure(directory))")
  }

  /// Without a temperature, or a part of it, logits are as they are.
  @Test func readsTheTemperature() throws {
    let directory = try makeModel()
    let config = try directory.text("model/config.json")
    func probability(_ temperature: String) throws -> Float {
      let parts = config.split(separator: #""tf_idf""#, omittingEmptySubsequences: false)
      try directory.write(parts.joined(separator: "\(temperature)\"tf_idf\""), to: "model/config.json")
      return try Context(modelDirectory: directory.file("model")).classify("red green and others").scores[0]
        .probability
    }
    let plain = try probability("")
    #expect(try probability(#""temperature": null, "#) == plain)
    #expect(try probability(#""temperature": {}, "#) == plain)
    let warm = try probability(#""temperature": {"intercept": 2}, "#)
    #expect(0.5 < warm && warm < plain)
    #expect(try probability(#""temperature": {"intercept": 2, "slope": 1}, "#) < warm)
    #expect(try probability(#""temperature": {"intercept": -9}, "#) > 0.999)
  }

  @Test(arguments: [
    ("", "the vocabulary is empty"), ("a\nb\na\n", "line 3 occurs twice: \"a\""),
    ("a\n\nb\n", "line 2 is neither a word"),
    ("a\nb c d\n", "line 2 is neither a word"), ("a \n", "line 1 is neither a word"),
    ("a\u{0}\n", "line 1 is neither a word"),
    (String(repeating: "a", count: 256), "line 1 is neither a word"), ("a\nb\n", "2 lines, but config.json"),
  ])
  func refusesVocabulary(text: String, message: String) throws {
    let directory = try makeModel()
    try directory.write(text, to: "model/vocab.txt")
    #expect(
      failure(directory).hasPrefix("invalidModel") && failure(directory).contains(message),
      "\(failure(directory))")
    try directory.write([0x61, 0xFF, 0x0A], to: "model/vocab.txt")
    #expect(failure(directory).contains("line 1 is neither a word"))
    try directory.remove("model/vocab.txt")
    #expect(failure(directory).hasPrefix("io"))
  }

  @Test(arguments: [
    ("classifier.weight", [2, 10], Float.nan), ("classifier.bias", [2], -.infinity), ("idf", [10], .nan),
    ("idf", [10], -1), ("classifier.weight", [10, 2], 0), ("classifier.bias", [3], 0), ("idf", [11], 0),
  ])
  func refusesWeights(name: String, shape: [Int], value: Float) throws {
    let directory = try makeModel()
    var tensors: [(name: String, shape: [Int])] = [
      ("classifier.weight", [2, 10]), ("classifier.bias", [2]), ("idf", [10]),
    ]
    tensors.removeAll { $0.name == name }
    func write() throws {
      try directory.remove("model/model.safetensors")
      var writer = try SafetensorsWriter(
        OutputFile(path: directory.file("model/model.safetensors")),
        tensors.map { .init(name: $0.name, type: SafetensorsType(.f32), shape: $0.shape) })
      for tensor in tensors {
        var values = [Float](repeating: 1, count: tensor.shape.reduce(1, *))
        if tensor.name == name { values[values.count - 1] = value }
        try values.withUnsafeBufferPointer { try writer.append($0, to: tensor.name) }
      }
      try writer.finish()
    }
    try write()
    #expect(
      failure(directory).hasPrefix("invalidModel") && failure(directory).contains("\"\(name)\" is missing"))
    tensors.append((name, shape))
    try write()
    #expect(failure(directory).hasPrefix("invalidModel") && failure(directory).contains("\"\(name)\""))
  }

  @Test func takesAnyBytesForFiles() throws {
    let directory = try makeModel()
    var generator = SplitMix64(seed: 21)
    for name in ["config.json", "vocab.txt", "model.safetensors"] {
      let original = try directory.bytes("model/\(name)")
      for _ in 0..<150 {
        var bytes = original
        for _ in 0...generator.next(below: 3) {
          bytes[generator.next(below: bytes.count)] = UInt8(truncatingIfNeeded: generator.next(below: 256))
        }
        if generator.next(below: 4) == 0 { bytes.removeLast(generator.next(below: bytes.count)) }
        try directory.write(bytes, to: "model/\(name)")
        guard let context = try? Context(modelDirectory: directory.file("model")) else { continue }
        let result = try context.classify("red green blue one two three")
        #expect(result.scores.allSatisfy { !$0.probability.isNaN })
      }
      try directory.write(original, to: "model/\(name)")
    }
    #expect(failure(directory) == "")
  }
}
