import Testing

@testable import BertQACore

struct LoadedModelTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: TinyCheckpoint.families, [ModelTask.answer, .classify, .embed, .entities])
  func findsEveryTensor(family: EncoderFamily, task: ModelTask) throws {
    let checkpoint = TinyCheckpoint(family, task: task)
    try checkpoint.write(to: directory)
    let model = try directory.loadedModel()
    try model.withTensors { tensors in
      #expect(tensors.count == checkpoint.tensors.count)
      for tensor in tensors {
        let expected = try #require(checkpoint.tensors[tensor.name])
        #expect(tensor.shape == expected.shape)
        #expect(Array(tensor.bytes) == expected.bytes)
        #expect(tensor.file == directory.file("model.safetensors"))
      }
    }
    let layer = try #require(model.encoder.layers.last)
    let (base, names) = (try #require(model.configuration.layerBases.last), family.tensors.layer)
    if let value = names.value { #expect(layer.value.bias?.name == "\(base)\(value).bias") }
    #expect(layer.attentionNorm?.weight.name == "\(base)\(names.attentionNorm).weight")
    #expect(layer.outputNorm.weight.name == "\(base)\(names.outputNorm).weight")
    #expect((layer.outputNorm.bias == nil) == (family == .modernBert))
    #expect((model.encoder.tokenTypeEmbeddings == nil) == (family.tensors.tokenTypeEmbeddings == nil))
    let before = family.pooler.isForTokens ? [[8, 8]] : []
    let heads: [ModelTask: [[Int]]] = [
      .answer: before + [[2, 8]], .classify: [[8, 8], [3, 8]], .embed: [], .entities: before + [[5, 8]],
    ]
    #expect(model.head.linears.map(\.weight.shape) == heads[task])
    let labels: [ModelTask: [String]] = [
      .classify: ["x", "y", "z"], .entities: ["O", "B-x", "I-x", "B-y", "I-y"],
    ]
    #expect(model.configuration.labels == labels[task, default: []])
    #expect((model.embedding == nil) == (task != .embed))
    #expect(model.tokenizer.vocabularySize == 10)
  }

  /// MobileBERT's file tells whether a classifier has a layer before its outputs.
  @Test func poolerByConfiguration() throws {
    for (isSet, layers) in [(nil, 2), (true, 2), (false, 1)] as [(Bool?, Int)] {
      var checkpoint = TinyCheckpoint(.mobileBert, task: .classify)
      checkpoint.config["classifier_activation"] = isSet.map(JSON.bool)
      try checkpoint.write(to: directory)
      #expect(try directory.loadedModel().head.layers.count == layers)
      checkpoint.rename { $0.contains("pooler") ? nil : $0 }
      try checkpoint.write(to: directory)
      if layers == 1 {
        #expect(try directory.loadedModel().ignoredTensors.isEmpty)
      } else {
        #expect(
          failure { _ = try directory.loadedModel() }?.message.contains("mobilebert.pooler.dense.weight")
            == true)
      }
    }
  }

  /// Without "architectures" the tensors tell the head, where they can.
  @Test(arguments: TinyCheckpoint.families)
  func withoutArchitecturesByTensors(family: EncoderFamily) throws {
    let types = [
      "Bert": "bert", "DistilBert": "distilbert", "Roberta": "roberta", "Electra": "electra",
      "Albert": "albert",
      "MPNet": "mpnet", "Deberta": "deberta", "DebertaV2": "deberta-v2", "ModernBert": "modernbert",
      "Ernie": "ernie",
      "Data2VecText": "data2vec-text", "NomicBert": "nomic_bert", "Gte": "gte", "New": "new",
      "JinaBert": "jinabert", "MobileBert": "mobilebert", "Longformer": "longformer",
    ]
    let type = try #require(family.classPrefixes.first.flatMap { types[$0] })
    for task in [ModelTask.embed, .answer, .classify, .entities] {
      var checkpoint = TinyCheckpoint(family, task: task)
      checkpoint.config["architectures"] = nil
      checkpoint.config["model_type"] = .string(type)
      try checkpoint.write(to: directory)
      // MPNet's own spellings are not among the pieces.
      try directory.write("{\"tokenizer_class\": \"BertTokenizer\"}", to: "tokenizer_config.json")
      if task == .embed || task == .answer && family != .modernBert {
        #expect(try directory.loadedModel().configuration.architecture.task == task)
        let other = try TemporaryDirectory()
        try Quantizer.quantize(ModelDirectory(path: directory.path), to: other.file("int8"))
        let again = try LoadedModel(ModelDirectory(path: other.file("int8")))
        #expect(again.configuration.architecture.task == task)
      } else {
        let error = try #require(failure { _ = try directory.loadedModel() })
        #expect(
          error.status == .unsupported && error.message.contains("set \"architectures\" to"), "\(error)")
      }
    }
  }

  /// ERNIE adds the first task's row to all embeddings: as if the rows of token types contained it. All numbers are
  /// exact.
  @Test func tasksOfErnie() throws {
    func floats(_ tensor: TinyCheckpoint.Tensor?) throws -> [Float] {
      try #require(tensor).bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }
    func tensor(_ values: [Float]) -> TinyCheckpoint.Tensor {
      .init(type: "F32", shape: [values.count / 8, 8], bytes: values.withUnsafeBytes(Array.init))
    }
    var ernie = TinyCheckpoint(.ernie, task: .embed)
    ernie.config["use_task_id"] = .bool(true)
    try ernie.write(to: directory)
    #expect(
      try #require(failure { _ = try directory.loadedModel() }).message.contains(
        "task_type_embeddings.weight"))
    let tasks = (0..<24).map { Float($0 % 7) / 8 }
    ernie.tensors["ernie.embeddings.task_type_embeddings.weight"] = tensor(tasks)
    try ernie.write(to: directory)
    var bert = TinyCheckpoint(.bert, task: .embed)
    let types = "bert.embeddings.token_type_embeddings.weight"
    bert.tensors[types] = tensor(try floats(bert.tensors[types]).enumerated().map { $1 + tasks[$0 % 8] })
    let other = try TemporaryDirectory()
    try bert.write(to: other)
    var options = ContextOptions()
    options.precision = .f32
    let text = "the foxes jump."
    let vector = try Context(modelDirectory: directory.path, options: options).embed(text)
    #expect(try vector == Context(modelDirectory: other.path, options: options).embed(text))
    try Quantizer.quantize(ModelDirectory(path: directory.path), to: other.file("int8"))
    #expect(try LoadedModel(ModelDirectory(path: other.file("int8"))).encoder.taskEmbeddings != nil)
  }

  /// A rotary family has no table, whatever config.json says of one.
  @Test func positionsOfAnotherName() throws {
    var checkpoint = TinyCheckpoint(.modernBert)
    checkpoint.config["position_embedding_type"] = .string("sans_pos")
    try checkpoint.write(to: directory)
    #expect(try directory.loadedModel().encoder.positionEmbeddings == nil)
  }

  /// An added token without a row in the table is text, as are its letters.
  @Test func addedTokensBeyondTheTable() throws {
    try TinyCheckpoint(.bert, task: .embed).write(to: directory)
    let tokens = (10..<14).map { "\"\($0)\": {\"content\": \"<\($0)>\"}" }.joined(separator: ", ")
    try directory.write("{\"added_tokens_decoder\": {\(tokens)}}", to: "tokenizer_config.json")
    let model = try directory.loadedModel()
    #expect(model.tokenizer.vocabularySize == 12)
    let tokenizer = try #require(try model.tokenizer.makeTokenizer() as? PipelineTokenizer)
    #expect(tokenizer.tokens("<11>").ids == [11])
    #expect(tokenizer.tokens("<12>").ids == [1, 1, 1])
    let whole = try TokenizerFiles(ModelDirectory(path: directory.path))
    #expect(whole.vocabularySize == 14)
    #expect(try !tokenizer.agrees(with: whole.makeTokenizer()))
    var checkpoint = TinyCheckpoint()
    checkpoint.vocabulary += ["a", "b", "c"]
    try checkpoint.write(to: directory)
    #expect(
      try #require(failure { _ = try directory.loadedModel() }).message.contains("belongs to another model"))
  }

  /// A change to a checkpoint that must not change its values.
  struct Variant: CustomTestStringConvertible {
    var testDescription: String
    var family = EncoderFamily.bert
    var type = "F32"
    var shards = 1
    var rename: @Sendable (String) -> String = { $0 }
    var hasExtras = false
  }

  static let variants: [Variant] = [
    Variant(testDescription: "F16", type: "F16"),
    Variant(testDescription: "BF16", type: "BF16"),
    Variant(testDescription: "sharded F64", type: "F64", shards: 2),
    Variant(testDescription: "sharded", shards: 3),
    Variant(testDescription: "sharded F16", type: "F16", shards: 2),
    Variant(testDescription: "bare encoder", rename: { $0.droppingPrefix("bert.") }),
    Variant(
      testDescription: "bare DistilBERT", family: .distilBert,
      rename: { $0.droppingPrefix("distilbert.") }),
    Variant(
      testDescription: "bare RoBERTa", family: .roberta, rename: { $0.droppingPrefix("roberta.") }),
    Variant(
      testDescription: "bare MPNet, sharded", family: .mpnet, shards: 2,
      rename: { $0.droppingPrefix("mpnet.") }),
    Variant(
      testDescription: "bare DeBERTa, sharded F16", family: .debertaV2, type: "F16", shards: 3,
      rename: { $0.droppingPrefix("deberta.") }),
    Variant(
      testDescription: "bare ELECTRA, sharded", family: .electra, shards: 2,
      rename: { $0.droppingPrefix("electra.") }),
    Variant(
      testDescription: "bare ALBERT", family: .albert, type: "BF16", rename: { $0.droppingPrefix("albert.") }),
    Variant(
      testDescription: "gamma and beta",
      rename: {
        guard $0.contains("LayerNorm") else { return $0 }
        return $0.hasSuffix("weight") ? $0.dropLast(6) + "gamma" : $0.dropLast(4) + "beta"
      }),
    Variant(testDescription: "unneeded tensors", hasExtras: true),
  ]

  @Test(arguments: variants)
  func readsVariants(variant: Variant) throws {
    var checkpoint = TinyCheckpoint(variant.family, type: variant.type)
    checkpoint.rename(variant.rename)
    if variant.hasExtras {
      checkpoint.tensors["bert.embeddings.position_ids"] = .init(
        type: "I64", shape: [1, 2], bytes: Array(repeating: 0, count: 16))
      checkpoint.tensors["bert.pooler.dense.weight"] = .init(
        type: "F32", shape: [1], bytes: [0, 0, 0, 0])
      // One byte, so that all later tensors are misaligned.
      checkpoint.tensors["aaa"] = .init(type: "BOOL", shape: [1], bytes: [1])
    }
    try checkpoint.write(to: directory, shards: variant.shards)
    let plain = try TemporaryDirectory()
    try TinyCheckpoint(variant.family).write(to: plain)
    let expected = try LoadedModel(ModelDirectory(path: plain.path))
    let model = try directory.loadedModel()
    #expect(model.configuration == expected.configuration)
    let names = model.withTensors { $0.map(\.name) }
    #expect(names == expected.withTensors { $0.map(\.name) })
    let values = model.withTensors { $0.map(\.floats) }
    #expect(values == expected.withTensors { $0.map(\.floats) })
  }

  @Test func aPoolerMayBeLeftOut() throws {
    for name in ["bert.pooler.dense", "pooler.dense"] {
      var checkpoint = TinyCheckpoint(task: .classify)
      checkpoint.rename { $0.hasPrefix("bert.pooler.dense") ? name + $0.dropFirst(17) : $0 }
      try checkpoint.write(to: directory)
      #expect(try directory.loadedModel().head.linears.count == 2)
      checkpoint.tensors["\(name).bias"] = nil
      #expect(
        try directory.refusal(checkpoint).message.contains("tensor \"bert.pooler.dense.bias\" is missing"))
      checkpoint.tensors["\(name).weight"] = nil
      try checkpoint.write(to: directory)
      #expect(try directory.loadedModel().head.linears.map(\.weight.shape) == [[3, 8]])
    }
    // DistilBERT's is never left out.
    var checkpoint = TinyCheckpoint(.distilBert, task: .classify)
    checkpoint.rename { $0.hasPrefix("pre_classifier") ? nil : $0 }
    #expect(try directory.refusal(checkpoint).message.contains("tensor \"pre_classifier.weight\" is missing"))
  }

  /// The layers' weights are one group's, however many layers there are.
  @Test func sharedLayersAreLoadedOnce() throws {
    var checkpoint = TinyCheckpoint(.albert)
    checkpoint.config["num_hidden_layers"] = .number(5)
    try checkpoint.write(to: directory)
    let two = try directory.loadedModel()
    #expect(two.encoder.layers.count == 2 && two.encoder.layerOrder == [0, 0, 0, 1, 1])
    checkpoint.config["num_hidden_groups"] = .number(1)
    checkpoint.tensors = checkpoint.tensors.filter { !$0.key.contains("groups.1.") }
    try checkpoint.write(to: directory)
    let one = try directory.loadedModel()
    #expect(one.encoder.layers.count == 1 && one.encoder.layerOrder == [0, 0, 0, 0, 0])
    one.withTensors { #expect($0.count == checkpoint.tensors.count) }
    checkpoint.config["inner_group_num"] = .number(2)
    #expect(
      try directory.refusal(checkpoint).message.contains(
        "albert_layer_groups.0.albert_layers.1.attention.query"))
  }

  /// Where embeddings are as wide as hidden vectors, only some families project them.
  @Test func projectionsOfTheSameWidth() throws {
    for (family, isProjected) in [(EncoderFamily.electra, false), (.albert, true)] {
      // As wide as the checkpoint's projected embeddings.
      var checkpoint = TinyCheckpoint(family, hidden: TinyCheckpoint.projectedEmbeddingSize)
      if !isProjected { checkpoint.rename { $0.contains("embeddings_project") ? nil : $0 } }
      try checkpoint.write(to: directory)
      #expect((try directory.loadedModel().encoder.embeddingProjection != nil) == isProjected)
    }
  }
}

extension String {
  fileprivate func droppingPrefix(_ prefix: String) -> String {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
  }
}
