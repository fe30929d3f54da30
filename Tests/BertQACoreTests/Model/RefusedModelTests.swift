import Testing

@testable import BertQACore

/// Checkpoints that are not loaded, and what is said of them.
struct RefusedModelTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: [
    "bert.embeddings.word_embeddings.weight", "bert.embeddings.position_embeddings.weight",
    "bert.embeddings.token_type_embeddings.weight", "bert.embeddings.LayerNorm.bias",
    "bert.encoder.layer.1.attention.self.key.weight", "bert.encoder.layer.0.output.dense.bias",
    "bert.encoder.layer.1.output.LayerNorm.weight", "qa_outputs.weight", "qa_outputs.bias",
  ])
  func refusesMissingAndForeignTensors(name: String) throws {
    let whole = TinyCheckpoint()
    let tensor = try #require(whole.tensors[name])
    let file = directory.file("model.safetensors")
    let isMatrix = tensor.shape.count == 2
    let types = isMatrix ? "F32 or F16 or BF16 or I8 or F64" : "F32 or F16 or BF16 or F64"

    var checkpoint = whole
    checkpoint.tensors[name] = nil
    #expect(
      try directory.refusal(checkpoint)
        == BertQAError(
          .invalidModel, "\(file): tensor \"\(name)\" is missing, expected \(types) \(tensor.shape)"))

    checkpoint.tensors[name] = .init(
      type: tensor.type, shape: tensor.shape + [1], bytes: tensor.bytes)
    #expect(
      try directory.refusal(checkpoint)
        == BertQAError(
          .invalidModel,
          "\(file): tensor \"\(name)\" is F32 \(tensor.shape + [1]), expected \(types) \(tensor.shape)"))

    checkpoint.tensors[name] = .init(
      type: "I32", shape: tensor.shape, bytes: tensor.bytes)
    #expect(
      try directory.refusal(checkpoint).message
        == "\(file): tensor \"\(name)\" is I32 \(tensor.shape), expected \(types) \(tensor.shape)")

    checkpoint.tensors[name] = .init(
      type: "I8", shape: tensor.shape, bytes: tensor.bytes.dropLast(tensor.bytes.count * 3 / 4))
    #expect(
      try directory.refusal(checkpoint).message.contains(
        isMatrix
          ? "tensor \"\(name)_scale\" is missing, expected F32 or F64 [\(tensor.shape[0])]"
          : "is I8 \(tensor.shape), expected \(types)"))
  }

  @Test func labelsMustFitTheClassifier() throws {
    var checkpoint = TinyCheckpoint(task: .classify)
    checkpoint.config["id2label"] = nil
    #expect(
      try directory.refusal(checkpoint).message.hasSuffix(
        "tensor \"classifier.weight\" is F32 [3, 8], expected F32 or F16 or BF16 or I8 or F64 [2, 8]"))
  }

  /// Every parameter, in every floating-point form.
  @Test(arguments: ["F64", "F32", "F16", "BF16"], [ModelTask.answer, .classify, .embed])
  func parametersThatAreNoNumbersAreRefused(type: String, task: ModelTask) throws {
    let checkpoint = TinyCheckpoint(task: task, type: type)
    for (name, tensor) in checkpoint.tensors {
      var damaged = checkpoint
      // All ones: a NaN in every format.
      let size = tensor.bytes.count / tensor.shape.reduce(1, *)
      damaged.tensors[name]?.bytes.replaceSubrange(
        tensor.bytes.count - size..<tensor.bytes.count, with: [UInt8](repeating: 0xFF, count: size))
      let error = try directory.refusal(damaged)
      #expect(error.status == .invalidModel)
      #expect(error.message.contains("tensor \"\(name)\": element"), "\(error)")
    }
  }

  /// Finite parameters whose products are not.
  @Test(arguments: [ModelTask.answer, .classify, .embed])
  func weightsThatOverflowAreRefusedInUse(task: ModelTask) throws {
    var checkpoint = TinyCheckpoint(task: task)
    let name = "bert.encoder.layer.1.output.LayerNorm.weight"
    checkpoint.tensors[name]?.bytes = (0..<8).flatMap { _ in
      withUnsafeBytes(of: Float.greatestFiniteMagnitude.bitPattern, Array.init)
    }
    checkpoint.tensors["bert.encoder.layer.1.output.LayerNorm.bias"]?.bytes = (0..<8).flatMap { _ in
      withUnsafeBytes(of: Float.greatestFiniteMagnitude.bitPattern, Array.init)
    }
    try checkpoint.write(to: directory)
    var options = ContextOptions()
    options.precision = .f32
    let context = try Context(modelDirectory: directory.path, options: options)
    let error = failure {
      switch task {
      case .answer: _ = try context.logits(ids: [2, 6, 3], windowLengths: [3])
      case .classify: _ = try context.classify("fox")
      default: _ = try context.embed("fox")
      }
    }
    #expect(error?.status == .invalidModel && error?.message.contains("finite") == true)
  }

  @Test func refusesBadScalesAndSums() throws {
    let name = "bert.encoder.layer.0.intermediate.dense.weight"
    var checkpoint = TinyCheckpoint()
    checkpoint.tensors[name] = .init(
      type: "I8", shape: [16, 8], bytes: Array(repeating: 1, count: 128))
    func scales(_ last: Float) -> TinyCheckpoint.Tensor {
      .init(
        type: "F32", shape: [16],
        bytes: (Array(repeating: 1, count: 15) + [last]).withUnsafeBytes(Array.init))
    }
    for (value, text) in [(Float.nan, "nan"), (.infinity, "inf")] {
      checkpoint.tensors["\(name)_scale"] = scales(value)
      #expect(
        try directory.refusal(checkpoint).message.hasSuffix(
          "tensor \"\(name)_scale\": element 15 is \(text), expected a finite number"))
    }
    checkpoint.tensors["\(name)_scale"] = scales(0.25)
    try checkpoint.write(to: directory)
    func values() throws -> [Float]? {
      try directory.loadedModel().withTensors { $0.first { $0.name == name }?.floats }
    }
    let expected = Array(repeating: Float(1), count: 120) + Array(repeating: 0.25, count: 8)
    #expect(try values() == expected)

    // The scales are used from wherever they lie.
    checkpoint.tensors["aaa"] = .init(type: "BOOL", shape: [1], bytes: [1])
    try checkpoint.write(to: directory)
    #expect(try values() == expected)

    checkpoint.tensors["\(name)_sum"] = .init(type: "I32", shape: [1], bytes: [8, 0, 0, 0])
    #expect(
      try directory.refusal(checkpoint).message.hasSuffix(
        "tensor \"\(name)_sum\" is I32 [1], expected I32 [16]"))
  }

  @Test func comparesVocabularyAndEmbeddings() throws {
    var checkpoint = TinyCheckpoint()
    checkpoint.vocabulary += ["a", "b", "c"]
    let error = try directory.refusal(checkpoint)
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("\(directory.file("vocab.txt")): 13 pieces"))
    #expect(error.message.contains("\"vocab_size\" 12"))

    checkpoint = TinyCheckpoint()
    checkpoint.config["vocab_size"] = .number(13)
    #expect(
      try directory.refusal(checkpoint).message.hasSuffix(
        "tensor \"bert.embeddings.word_embeddings.weight\" is F32 [12, 8], "
          + "expected F32 or F16 or BF16 or I8 or F64 [13, 8]"))
  }

  @Test(arguments: ["config.json", "vocab.txt", "model.safetensors"])
  func saysWhichFileIsMissing(name: String) throws {
    try TinyCheckpoint().write(to: directory)
    try directory.remove(name)
    let error = try #require(failure { _ = try directory.loadedModel() })
    #expect(error.status == .io)
    #expect(error.message.contains(name))
    #expect(error.message.hasPrefix(directory.path))
  }

  @Test func refusesDirectoriesThatAreNone() {
    #expect(failure { _ = try LoadedModel(ModelDirectory(path: "")) }?.status == .invalidArgument)
    #expect(failure { _ = try LoadedModel(ModelDirectory(path: "a\0b")) }?.status == .invalidArgument)
    #expect(failure { _ = try LoadedModel(ModelDirectory(path: directory.file("x"))) }?.status == .io)
  }

  @Test(arguments: [
    "../model.safetensors", "/etc/passwd", "sub/model.safetensors", "..", ".", "", "a\\u0000b",
  ])
  func refusesShardsElsewhere(name: String) throws {
    try TinyCheckpoint().write(to: directory, shards: 2)
    try directory.write(
      "{\"weight_map\": {\"qa_outputs.bias\": \"\(name)\"}}", to: "model.safetensors.index.json")
    let error = try #require(failure { _ = try directory.loadedModel() })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasSuffix("expected the name of a file in the same directory"))
  }

  @Test func refusesBadIndexes() throws {
    try TinyCheckpoint().write(to: directory, shards: 2)
    let index = "model.safetensors.index.json"
    let text = try directory.text(index)
    func message(_ text: String) throws -> String {
      try directory.write(text, to: index)
      return try #require(failure { _ = try directory.loadedModel() }).message
    }
    #expect(try message("[]").hasSuffix("expected a JSON object"))
    #expect(try message("{}").hasSuffix("\"weight_map\" is missing"))
    #expect(try message("{\"weight_map\": []}").hasSuffix("\"weight_map\" is an array, expected an object"))
    #expect(try message("{\"weight_map\": {\"x\": 1}}").contains("\"x\" is 1, expected the name"))
    #expect(try message("{\"weight_map\": {\"x\": \"none\"}}").contains("none: cannot open"))
    let first = "\"bert.embeddings.LayerNorm.bias\": \"model-00001-of-00002.safetensors\""
    #expect(try message(text.replacing(first, with: "\(first), \(first)")).contains("occurs twice"))
    #expect(
      try message(text.replacing(first, with: first.replacing("-00001-", with: "-00002-"))).hasSuffix(
        "model-00002-of-00002.safetensors: tensor \"bert.embeddings.LayerNorm.bias\" is missing, "
          + "but \(directory.file(index)) lists it here"))
  }
}
