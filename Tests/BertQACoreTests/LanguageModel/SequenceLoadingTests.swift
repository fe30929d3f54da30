import Testing

@testable import BertQACore

@Suite struct SequenceLoadingTests {
  /// The status of loading a model that `change` bends, and the message.
  private func load(
    _ kind: String = "lstm", layers: Int = 1, change: (inout TinyRecurrent) -> Void
  ) throws -> (status: Status?, message: String) {
    let directory = try TemporaryDirectory()
    var checkpoint = TinyRecurrent(kind, layers: layers)
    change(&checkpoint)
    try checkpoint.write(to: directory)
    do throws(BertQAError) {
      let context = try Context(modelDirectory: directory.path)
      _ = try context.generate(prompt: "a b")
      return (nil, "")
    } catch { return (error.status, error.message) }
  }

  @Test(arguments: ["lstm", "gru"], [1, 3])
  func variantsLoad(kind: String, layers: Int) throws {
    #expect(try load(kind, layers: layers) { _ in }.message == "")
    let changes: [(inout TinyRecurrent) -> Void] = [
      { for name in $0.tensors.keys where name.contains("bias") { $0.tensors[name] = nil } },
      { $0.config["num_hidden_layers"] = layers == 1 ? nil : $0.config["num_hidden_layers"] },
      { $0.config["bidirectional"] = .bool(false) }, { $0.config["proj_size"] = .number(0) },
      { $0.config["tokenization"] = .string("word") }, { $0.config["dropout"] = .string("whatever") },
      { ($0.config["unk_token"], $0.config["eos_token"]) = (nil, nil) },
    ]
    for change in changes { #expect(try load(kind, layers: layers, change: change).message == "") }
  }

  @Test func contradictionsAreRefused() throws {
    let invalid: [(String, (inout TinyRecurrent) -> Void)] = [
      ("\"vocab_size\"", { $0.config["vocab_size"] = nil }),
      ("\"hidden_size\"", { $0.config["hidden_size"] = nil }),
      ("\"hidden_size\"", { $0.config["hidden_size"] = .number(0) }),
      ("\"hidden_size\"", { $0.config["hidden_size"] = .number(1 << 40) }),
      ("lstm.weight_ih_l0", { $0.config["hidden_size"] = .number(7) }),
      ("embedding.weight", { $0.config["embedding_size"] = .number(5) }),
      ("lstm.weight_ih_l1", { $0.config["num_hidden_layers"] = .number(2) }),
      ("\"num_hidden_layers\"", { $0.tensors["lstm.weight_ih_l1"] = $0.tensors["lstm.weight_hh_l0"] }),
      ("vocab.txt", { $0.vocabulary.removeLast() }), ("vocab.txt", { $0.vocabulary.append("d") }),
      ("\"unk_token\"", { $0.config["unk_token"] = .string("[UNK]") }),
      ("\"eos_token\"", { $0.config["eos_token"] = .string("<end>") }),
      ("decoder.weight", { $0.tensors["decoder.weight"] = nil }),
      ("decoder.weight", { $0.tensors["decoder.weight"]?.shape = [6, 8] }),
      ("one of the biases of lstm layer 0 is missing", { $0.tensors["lstm.bias_hh_l0"] = nil }),
      ("tie_word_embeddings", { $0.config["tie_word_embeddings"] = .bool(true) }),
      ("lstm.weight_hh_l0", { $0.tensors["lstm.weight_hh_l0"]?.type = "I32" }),
    ]
    for (part, change) in invalid {
      let (status, message) = try load(change: change)
      #expect(status == .invalidModel && message.contains(part), "\(part): \(message)")
    }
    let unsupported: [(String, (inout TinyRecurrent) -> Void)] = [
      ("bidirectional", { $0.config["bidirectional"] = .bool(true) }),
      ("bidirectional", { $0.tensors["lstm.weight_ih_l0_reverse"] = $0.tensors["lstm.weight_ih_l0"] }),
      ("proj_size", { $0.config["proj_size"] = .number(3) }),
      ("projected", { $0.tensors["lstm.weight_hr_l0"] = $0.tensors["lstm.weight_ih_l0"] }),
      ("tokenization", { $0.config["tokenization"] = .string("bpe") }),
      ("RNNLanguageModel", { $0.config["architectures"] = .array([.string("RNNLanguageModel")]) }),
    ]
    for (part, change) in unsupported {
      let (status, message) = try load(change: change)
      #expect(status == .unsupported && message.contains(part), "\(part): \(message)")
    }
  }

  @Test func weightsThatAreNoNumbersAreRefused() throws {
    for name in TinyRecurrent().tensors.keys {
      for bad in [Float.nan, .infinity, -.infinity] {
        let (status, message) = try load {
          let size = $0.tensors[name]?.bytes.count ?? 0
          $0.tensors[name]?.bytes.replaceSubrange(
            (size - 4)..<size, with: withUnsafeBytes(of: bad.bitPattern, Array.init))
        }
        #expect(status == .invalidModel && message.contains(name) && message.contains("infinity or NaN"))
      }
    }
    // Finite, but too large to compute with.
    let (status, _) = try load {
      let size = $0.tensors["decoder.weight"]?.bytes.count ?? 0
      let huge = withUnsafeBytes(of: Float.greatestFiniteMagnitude.bitPattern, Array.init)
      $0.tensors["decoder.weight"]?.bytes = (0..<size / 4).flatMap { _ in huge }
    }
    #expect(status == nil || status == .invalidModel)
  }

  @Test func modelsWithoutSpecialWords() throws {
    let directory = try TemporaryDirectory()
    var checkpoint = TinyRecurrent()
    (checkpoint.config["unk_token"], checkpoint.config["eos_token"]) = (nil, nil)
    try checkpoint.write(to: directory, vocabulary: ["p", "q", "x", "y", "z", "a", "b", "c"])
    let context = try Context(modelDirectory: directory.path)
    #expect(status { _ = try context.predict(word: "zyzzyva") } == .invalidArgument)
    #expect(status { _ = try context.generate(prompt: "a zyzzyva") } == .invalidArgument)
    #expect(
      status { _ = try context.likelihood(of: "a b", options: SequenceOptions(includesEnd: true)) }
        == .invalidArgument)
    let generation = try context.generate(prompt: "a")
    #expect(generation.stop == .limit && generation.words.count == 100)
  }

  @Test func precisionsOtherThanF32AreRefused() throws {
    let statuses: [(Precision, Status?)] = [
      (.f32, nil), (.auto, nil), (.bf16, .unsupported), (.int8, .unsupported),
    ]
    for (precision, expected) in statuses {
      var options = ContextOptions()
      options.precision = precision
      let found = status { _ = try Context(modelDirectory: TinyModel.path("tiny-lstm"), options: options) }
      #expect(found == expected)
    }
  }

  /// Any bytes as files of a model: a model or a status.
  @Test func damagedFilesAreSurvived() throws {
    let directory = try TemporaryDirectory()
    try TinyRecurrent().write(to: directory)
    var random = TestRandom(21)
    for name in ["config.json", "vocab.txt", "model.safetensors"] {
      let original = try directory.bytes(name)
      for round in 0..<120 {
        var bytes = original
        let position = Int.random(in: 0..<bytes.count, using: &random)
        let byte = UInt8.random(in: 0...255, using: &random)
        switch round % 3 {
        case 0: bytes = Array(bytes.prefix(position))
        case 1: bytes[position] = byte
        default: bytes.insert(byte, at: position)
        }
        try directory.write(bytes, to: name)
        let found = status {
          let context = try Context(modelDirectory: directory.path)
          _ = try context.generate(prompt: "a b c")
        }
        #expect(found != .internal)
      }
      try directory.write(original, to: name)
    }
  }
}
