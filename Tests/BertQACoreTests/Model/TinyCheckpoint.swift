import Testing

@testable import BertQACore

/// A small checkpoint with random weights that tests bend and write.
struct TinyCheckpoint {
  /// Those it makes checkpoints of.
  static let families = [
    EncoderFamily.bert, .distilBert, .roberta, .electra, .albert, .mpnet, .deberta, .debertaV2, .modernBert,
    .ernie,
    .data2VecText, .nomicBert, .gte, .new, .jinaBert, .mobileBert, .longformer,
  ]
  /// Where embeddings are projected.
  static let projectedEmbeddingSize = 6

  /// For families with distance vectors.
  static let positionBuckets = 6

  struct Tensor: Equatable {
    var type: String
    var shape: [Int]
    var bytes: [UInt8]
  }

  var config: [String: JSON]
  var vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "fox", "##es", "jump", "."]
  var tensors: [String: Tensor] = [:]

  /// Every weight is a multiple of 1/64 within ±1: exact in F32, F16 and BF16 alike.
  init(
    _ family: EncoderFamily = .bert, task: ModelTask = .answer, hidden: Int = 8, heads: Int = 2,
    inner: Int = 16, layers: Int = 2, positions: Int = 16, type: String = "F32"
  ) {
    var random = TestRandom(7)
    let names = family.tensors
    let architecture = HeadKind.allCases.first { $0.task == task }.map { Architecture.encoder(family, $0) }
    config = Self.config(
      family, hidden: hidden, heads: heads, inner: inner, layers: layers, positions: positions)
    config["architectures"] = .array([.string(architecture?.name ?? "")])
    func add(_ name: String, _ shape: [Int]) {
      let values = (0..<shape.reduce(1, *)).map { _ in
        Float(Int.random(in: -64...64, using: &random)) / 64
      }
      tensors[name] = Tensor(type: type, shape: shape, bytes: Self.encode(values, type))
    }
    let biases = family.configuration.biases
    let normHasBias = biases.norm == .always
    func linear(_ name: String, _ outs: Int, _ ins: Int, hasBias: Bool = true) {
      add("\(name).weight", [outs, ins])
      if hasBias { add("\(name).bias", [outs]) }
    }
    func norm(_ name: String, _ width: Int? = nil) {
      add("\(name).weight", [width ?? hidden])
      if normHasBias { add("\(name).bias", [width ?? hidden]) }
    }
    var (words, width, infix) = (hidden, hidden, "")
    switch family.embeddings {
    case .hidden: break
    case .projected(let name, _):
      words = Self.projectedEmbeddingSize
      width = words
      linear(name, hidden, words)
    case .trigrams(let name):
      words = Self.projectedEmbeddingSize
      linear(name, hidden, 3 * words)
    }
    if case .groups(let name) = family.layerSharing { infix = "\(name)0." }
    add("\(names.wordEmbeddings).weight", [12, words])
    if let name = names.positionEmbeddings { add("\(name).weight", [positions, width]) }
    if let name = names.tokenTypeEmbeddings { add("\(name).weight", [2, width]) }
    norm(names.embeddingNorm, width)
    if let name = names.distances {
      if family == .mpnet {
        add("\(name).weight", [32, heads])
      } else {
        // Version 1 has a vector for each distance.
        add("\(name).weight", [2 * (family == .deberta ? positions : Self.positionBuckets), hidden])
      }
    }
    if let name = names.distanceNorm { norm(name) }
    let layer = names.layer
    // Inside a layer.
    let within = layer.narrow == nil ? hidden : Self.bottleneckSize(heads: heads)
    for index in 0..<layers {
      let base = "\(names.layers)\(index).\(infix)"
      let projections = [layer.query, layer.key, layer.value].compactMap(\.self)
      // Models with other heads have no global tokens.
      if case .local(let suffix) = family.attention, [.answer, .classify].contains(task) {
        for name in projections { linear(base + name + suffix, hidden, hidden) }
      }
      for name in projections {
        linear(
          base + name, 3 / projections.count * within, name == layer.value ? hidden : within,
          hasBias: biases.attention == .always && layer.headBiases == nil)
      }
      if let own = layer.headBiases { for name in [own.query, own.value] { add(base + name, [hidden]) } }
      if let name = layer.distanceKey {
        linear(base + name, hidden, hidden, hasBias: layer.headBiases == nil)
      }
      if let name = layer.distanceQuery { linear(base + name, hidden, hidden) }
      linear(base + layer.attentionOutput, within, within, hasBias: biases.attention == .always)
      if index > 0 || family.norm != .layerNormBefore { norm(base + layer.attentionNorm, within) }
      var inputs = inner
      switch family.feedForward {
      case .dense: break
      case .gated(.module(let name)):
        linear(base + name, inner, hidden, hasBias: biases.intermediate == .always)
      case .gated(.behind), .gated(.before): inputs = 2 * inner
      }
      linear(base + layer.intermediate, inputs, within, hasBias: biases.intermediate == .always)
      linear(base + layer.output, within, inner, hasBias: biases.output == .always)
      norm(base + layer.outputNorm, within)
      if let narrow = layer.narrow {
        func step(_ module: String, _ outs: Int, _ ins: Int) {
          linear("\(base)\(module).dense", outs, ins)
          norm("\(base)\(module).LayerNorm", outs)
        }
        step(narrow.input, within, hidden)
        step(narrow.attention, within, hidden)
        linear("\(base)\(narrow.feedForwards).0.intermediate.dense", inner, within)
        step("\(narrow.feedForwards).0.output", within, inner)
        step(narrow.output, hidden, within)
      }
    }
    if let name = names.finalNorm { norm(name) }
    if task == .classify || task != .embed && family.pooler.isForTokens {
      linear(family.pooler.module, hidden, hidden, hasBias: biases.pooler == .always)
      if let name = family.pooler.norm { norm(name) }
    }
    switch task {
    case .answer: linear(names.questionAnswering, 2, hidden)
    case .classify:
      config["id2label"] = .object(
        .init(members: ["x", "y", "z"].enumerated().map { .init(key: "\($0)", value: .string($1)) }))
      linear(names.classifier, 3, hidden)
    case .entities:
      config["id2label"] = .object(
        .init(
          members: ["O", "B-x", "I-x", "B-y", "I-y"].enumerated().map {
            .init(key: "\($0)", value: .string($1))
          }))
      linear(names.tokenClassifier, 5, hidden)
    case .embed, .predict: break
    }
  }

  private static func bottleneckSize(heads: Int) -> Int { 2 * heads }

  private static func config(
    _ family: EncoderFamily, hidden: Int, heads: Int, inner: Int, layers: Int, positions: Int
  ) -> [String: JSON] {
    func integer(_ value: Int) -> JSON { .number(value) }
    let common: [String: JSON] = ["vocab_size": integer(12), "max_position_embeddings": integer(positions)]
    if [.deberta, .debertaV2].contains(family) {
      return common.merging(
        [
          "hidden_size": integer(hidden), "num_hidden_layers": integer(layers),
          "num_attention_heads": integer(heads), "intermediate_size": integer(inner),
          "type_vocab_size": integer(2), "relative_attention": .bool(true),
          "pos_att_type": .string("p2c|c2p"),
        ].merging(
          family == .deberta
            ? [:] : ["position_buckets": integer(positionBuckets), "norm_rel_ebd": .string("layer_norm")]
        ) { $1 }
      ) { $1 }
    }
    let own: [String: JSON] =
      family != .distilBert
      ? [
        "hidden_size": integer(hidden), "num_hidden_layers": integer(layers),
        "num_attention_heads": integer(heads), "intermediate_size": integer(inner),
        "hidden_act": .string("gelu"), "type_vocab_size": integer(2),
        "embedding_size": integer(projectedEmbeddingSize), "num_hidden_groups": integer(layers),
        "intra_bottleneck_size": integer(bottleneckSize(heads: heads)),
        "num_feedforward_networks": integer(2),
        "layer_norm_eps": .number(1e-6),
      ]
      : [
        "dim": integer(hidden), "n_layers": integer(layers), "n_heads": integer(heads),
        "hidden_dim": integer(inner), "activation": .string("gelu"),
        "sinusoidal_pos_embds": .bool(true),
      ]
    return common.merging(own) { $1 }
  }

  private static func encode(_ values: [Float], _ type: String) -> [UInt8] {
    values.flatMap { value -> [UInt8] in
      switch type {
      case "F64": withUnsafeBytes(of: Double(value).bitPattern, Array.init)
      case "F16": withUnsafeBytes(of: Float16(value).bitPattern, Array.init)
      case "BF16": withUnsafeBytes(of: UInt16(value.bitPattern >> 16), Array.init)
      default: withUnsafeBytes(of: value.bitPattern, Array.init)
      }
    }
  }

  /// Gives tensors other names; nil drops one.
  mutating func rename(_ change: (String) -> String?) {
    tensors = tensors.reduce(into: [:]) { result, tensor in
      if let name = change(tensor.key) { result[name] = tensor.value }
    }
  }

  var configText: String {
    JSON.object(JSON.Object(members: config.sorted { $0.key < $1.key }.map { .init(key: $0, value: $1) }))
      .text
  }

  func write(to directory: TemporaryDirectory, shards: Int = 1) throws {
    try directory.write(configText, to: "config.json")
    try directory.write(vocabulary.joined(separator: "\n") + "\n", to: "vocab.txt")
    try writeWeights(to: directory, shards: shards)
  }

  func writeWeights(to directory: TemporaryDirectory, shards: Int = 1) throws {
    if shards == 1 {
      try directory.write(Self.safetensors(tensors), to: "model.safetensors")
      return
    }
    let names = tensors.keys.sorted()
    var map: [String] = []
    for shard in 0..<shards {
      let file = "model-0000\(shard + 1)-of-0000\(shards).safetensors"
      let part = stride(from: shard, to: names.count, by: shards).map { names[$0] }
      try directory.write(
        Self.safetensors(tensors.filter { part.contains($0.key) }), to: file)
      map += part.map { "\"\($0)\": \"\(file)\"" }
    }
    try directory.write(
      "{\"metadata\": {}, \"weight_map\": {\(map.joined(separator: ", "))}}",
      to: "model.safetensors.index.json")
  }

  /// A file of the tensors in the order of their names.
  static func safetensors(_ tensors: [String: Tensor]) -> [UInt8] {
    var entries: [String] = []
    var data: [UInt8] = []
    for (name, tensor) in tensors.sorted(by: { $0.key < $1.key }) {
      let end = data.count + tensor.bytes.count
      entries.append(
        """
        "\(name)": {"dtype": "\(tensor.type)", "shape": \(tensor.shape), \
        "data_offsets": [\(data.count), \(end)]}
        """)
      data += tensor.bytes
    }
    return safetensors(header: "{\(entries.joined(separator: ",\n"))}", data: data)
  }

  /// A file of a header and data, valid or not.
  static func safetensors(header: String, data: [UInt8] = []) -> [UInt8] {
    withUnsafeBytes(of: UInt64(header.utf8.count).littleEndian, Array.init) + header.utf8 + data
  }
}

extension TensorView {
  /// All elements.
  var floats: [Float] {
    Array(unsafeUninitializedCapacity: rowCount * rowWidth) { buffer, count in
      count = rowCount * rowWidth
      if let base = buffer.baseAddress { copyFloats(rows: 0..<rowCount, to: base) }
    }
  }
}

extension HeadWeights {
  var linears: [LinearWeights] { layers.map(\.linear) }
}

extension QuantizeOptions {
  static func threshold(_ threshold: Float) -> QuantizeOptions {
    var options = QuantizeOptions()
    options.noAnswerThreshold = threshold
    return options
  }
}

extension LoadedModel {
  /// Hands out every tensor of the model, which lives until `body` returns.
  func withTensors<Result>(_ body: ([TensorView]) throws -> Result) rethrows -> Result {
    defer { withExtendedLifetime(self) {} }
    let plan = QuantizationPlan(self)
    return try body(plan.quantized.map(\.tensor) + plan.kept)
  }
}

extension TemporaryDirectory {
  func loadedModel() throws -> LoadedModel { try LoadedModel(ModelDirectory(path: path)) }

  /// The error of loading a checkpoint, which is written here.
  func refusal(_ checkpoint: TinyCheckpoint) throws -> BertQAError {
    try checkpoint.write(to: self)
    return try #require(failure { _ = try loadedModel() })
  }
}
