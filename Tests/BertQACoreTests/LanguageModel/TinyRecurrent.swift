@testable import BertQACore

/// A small recurrent model with random weights that tests bend and write.
struct TinyRecurrent {
  var config: [String: JSON]
  var vocabulary = ["<unk>", "</s>", "x", "y", "z", "a", "b", "c"]
  var tensors: [String: TinyCheckpoint.Tensor] = [:]

  init(_ kind: String = "lstm", embedding: Int = 4, hidden: Int = 6, layers: Int = 1) {
    var random = TestRandom(11)
    let gates = kind == "gru" ? 3 : 4
    config = [
      "architectures": .array([.string(kind == "gru" ? "GRULanguageModel" : "LSTMLanguageModel")]),
      "vocab_size": .number(vocabulary.count), "embedding_size": .number(embedding),
      "hidden_size": .number(hidden), "num_hidden_layers": .number(layers),
      "unk_token": .string("<unk>"), "eos_token": .string("</s>"),
    ]
    func add(_ name: String, _ shape: [Int]) {
      let values = random.floats(shape.reduce(1, *))
      tensors[name] = TinyCheckpoint.Tensor(
        type: "F32", shape: shape, bytes: values.flatMap { withUnsafeBytes(of: $0.bitPattern, Array.init) })
    }
    add("embedding.weight", [vocabulary.count, embedding])
    for layer in 0..<layers {
      add("\(kind).weight_ih_l\(layer)", [gates * hidden, layer == 0 ? embedding : hidden])
      add("\(kind).weight_hh_l\(layer)", [gates * hidden, hidden])
      add("\(kind).bias_ih_l\(layer)", [gates * hidden])
      add("\(kind).bias_hh_l\(layer)", [gates * hidden])
    }
    add("decoder.weight", [vocabulary.count, hidden])
    add("decoder.bias", [vocabulary.count])
  }

  func write(to directory: TemporaryDirectory, vocabulary words: [String]? = nil) throws {
    let members = config.sorted { $0.key < $1.key }.map { JSON.Object.Member(key: $0.key, value: $0.value) }
    try directory.write(JSON.object(JSON.Object(members: members)).text, to: "config.json")
    try directory.write((words ?? vocabulary).joined(separator: "\n") + "\n", to: "vocab.txt")
    try directory.write(TinyCheckpoint.safetensors(tensors), to: "model.safetensors")
  }
}
