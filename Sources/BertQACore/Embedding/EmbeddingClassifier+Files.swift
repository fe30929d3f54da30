/// The files of a classifier are those of its embedding model and, in a folder, those of its head: `config.json` and
/// `model.safetensors`. docs/classification.md describes them.
extension LinearHead {
  private static let folder = "classifier"
  private static let configuration = "config.json"

  /// The names of the tensors.
  private enum Names {
    static let module = "classifier"
    static let weight = "classifier.weight"
    static let bias = "classifier.bias"
  }

  /// Returns the directory of the head's files; nil if the directory is not a classifier's.
  static func directory(in directory: ModelDirectory) throws(BertQAError) -> ModelDirectory? {
    guard directory.exists(Architecture.embeddingClassifierFile) else { return nil }
    let own = directory.inFolder(folder)
    guard case .array(let names)? = try own.object(in: configuration).value("architectures"),
      names == [.string(Architecture.embeddingClassifier.name)]
    else { return nil }
    return own
  }

  /// True if a file of a classifier's directory belongs to the head.
  static func isFile(_ name: String) -> Bool { name.hasPrefix("\(folder)/") }

  /// Checks everything, because the files are untrusted.
  /// - Parameters:
  ///   - directory: of the head's files.
  ///   - length: the number of floats in a vector.
  init(_ directory: ModelDirectory, length: Int) throws(BertQAError) {
    let reader = try directory.object(in: Self.configuration)
    labels = try reader.classifierLabels()
    temperature = try LengthTemperature(reader)
    var loader = WeightLoader(try Checkpoint(directory), prefix: "", directory.monitor)
    defer { withExtendedLifetime(loader) {} }
    let layer = try loader.linear(Names.module, outs: labels.count, ins: length, hasBias: false)
    weights = try Self.numbers(of: layer.weight, count: labels.count * length)
    bias = try Self.numbers(of: loader.vector(Names.bias, count: labels.count), count: labels.count)
  }

  private static func numbers(of tensor: TensorView, count: Int) throws(BertQAError) -> [Float] {
    var numbers = try [Float](repeating: 0, count: count, nil)
    numbers.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { tensor.copyFloats(rows: 0..<tensor.rowCount, to: base) }
    }
    try tensor.checkFinite(numbers)
    return numbers
  }

  /// - Parameter training: a record of the settings of the training.
  func write(to directory: OutputDirectory, training: JSON.Object) throws(BertQAError) {
    var object = JSON.Object()
    object["architectures"] = .array([.string(Architecture.embeddingClassifier.name)])
    object["model_type"] = .string("embedding_classifier")
    object["id2label"] = .object(JSON.Object(labels: labels))
    if temperature != .one { object["temperature"] = .object(temperature.json) }
    object["training"] = .object(training)
    try directory.write(JSON.object(object).text + "\n", to: "\(Self.folder)/\(Self.configuration)")
    let type = SafetensorsType(DataType.f32)
    var writer = try SafetensorsWriter(
      directory.makeFile("\(Self.folder)/model.safetensors"),
      [
        SafetensorsLayout.Tensor(
          name: Names.weight, type: type, shape: [labels.count, weights.count / labels.count]),
        SafetensorsLayout.Tensor(name: Names.bias, type: type, shape: [labels.count]),
      ])
    try weights.withElements { numbers throws(BertQAError) in try writer.append(numbers, to: Names.weight) }
    try bias.withElements { numbers throws(BertQAError) in try writer.append(numbers, to: Names.bias) }
    try writer.finish()
  }
}
