import CBertQA

/// The tensors of a recurrent language model, with PyTorch's names.
struct SequenceWeights: Sendable {
  struct Layer: Sendable {
    /// [gates · hidden, inputs]
    var input: TensorView
    /// [gates · hidden, hidden]
    var state: TensorView
    /// [gates · hidden]; nil in layers made with `bias=False`.
    var inputBias: TensorView?
    var stateBias: TensorView?
  }

  /// [vocabulary, embedding]
  let embedding: TensorView
  let layers: [Layer]
  /// [vocabulary, hidden]
  let decoder: TensorView
  /// [vocabulary]
  let decoderBias: TensorView?

  init(_ loader: WeightLoader, _ configuration: SequenceConfiguration) throws(BertQAError) {
    try Self.checkVariant(loader, configuration)
    let (words, hidden) = (configuration.vocabularySize, configuration.hiddenSize)
    embedding = try loader.floats("embedding.weight", shape: [words, configuration.embeddingSize])
    var layers: [Layer] = []
    for index in 0..<configuration.layerCount {
      let inputs = index == 0 ? configuration.embeddingSize : hidden
      layers.append(try Layer(loader, index: index, inputs: inputs, configuration))
    }
    self.layers = layers
    decoder =
      configuration.tiesEmbeddings
      ? embedding : try loader.floats("decoder.weight", shape: [words, hidden])
    decoderBias =
      try loader.has("decoder.bias") ? loader.floats("decoder.bias", shape: [words]) : nil
  }

  /// Every tensor once, in the same order for every file.
  var all: [TensorView] {
    var tensors = [embedding]
    for layer in layers {
      tensors += [layer.input, layer.state] + [layer.inputBias, layer.stateBias].compactMap(\.self)
    }
    if decoder.bytes.baseAddress != embedding.bytes.baseAddress { tensors.append(decoder) }
    return tensors + [decoderBias].compactMap(\.self)
  }

  /// Rejects tensors that mean another computation than `config.json` specifies.
  private static func checkVariant(
    _ loader: WeightLoader, _ configuration: SequenceConfiguration
  ) throws(BertQAError) {
    let module = configuration.cell.module
    let variants = [
      (
        "\(module).weight_ih_l0_reverse", Status.unsupported,
        "bidirectional layers cannot predict what comes next"
      ),
      ("\(module).weight_hr_l0", .unsupported, "projected LSTM layers are not supported"),
      (
        "\(module).weight_ih_l\(configuration.layerCount)", .invalidModel,
        "\"num_hidden_layers\" in config.json is \(configuration.layerCount)"
      ),
    ]
    for (name, status, reason) in variants where try loader.has(name) {
      throw BertQAError(status, "the checkpoint has a tensor \(quoted(name)), but \(reason)")
    }
  }
}

extension SequenceWeights.Layer {
  fileprivate init(
    _ loader: WeightLoader, index: Int, inputs: Int, _ configuration: SequenceConfiguration
  ) throws(BertQAError) {
    let module = configuration.cell.module
    let rows = configuration.cell.gateCount * configuration.hiddenSize
    func bias(_ name: String) throws(BertQAError) -> TensorView? {
      try loader.has(name) ? loader.floats(name, shape: [rows]) : nil
    }
    input = try loader.floats("\(module).weight_ih_l\(index)", shape: [rows, inputs])
    state = try loader.floats("\(module).weight_hh_l\(index)", shape: [rows, configuration.hiddenSize])
    inputBias = try bias("\(module).bias_ih_l\(index)")
    stateBias = try bias("\(module).bias_hh_l\(index)")
    guard (inputBias == nil) == (stateBias == nil) else {
      throw BertQAError(
        .invalidModel, "\(input.file): one of the biases of \(module) layer \(index) is missing")
    }
  }
}
