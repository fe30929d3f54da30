import BertQACore
import CBertQAHeader

/// The smallest model of a kind, in memory, whose weights are zeros: what it says is nothing, but saying it runs
/// all of the kind's code.
struct ZeroModel {
  private(set) var files: [String: [UInt8]] = [:]

  private static let width = 16
  /// A model's window of 8 tokens, and a second window.
  private static let positions = 16
  private static let pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "."]

  /// - Parameter head: the head's tensors.
  static func encoder(_ architecture: String, prefix: String, head: [(String, [Int])]) -> ZeroModel {
    var model = ZeroModel()
    model.files["config.json"] = Array(
      """
      {"architectures": ["\(architecture)"], "model_type": "bert", "vocab_size": \(pieces.count),
       "hidden_size": \(width), "num_hidden_layers": 1, "num_attention_heads": 1,
       "intermediate_size": \(width), "max_position_embeddings": \(positions), "type_vocab_size": 2,
       "hidden_act": "gelu", "layer_norm_eps": 1e-12, "id2label": {"0": "x", "1": "y"}}
      """.utf8)
    model.files["vocab.txt"] = lines(pieces)
    let linear = { (name: String) in [("\(name).weight", [width, width]), ("\(name).bias", [width])] }
    let norm = { (name: String) in [("\(name).weight", [width]), ("\(name).bias", [width])] }
    let layer = "\(prefix)encoder.layer.0."
    var tensors = [
      ("\(prefix)embeddings.word_embeddings.weight", [pieces.count, width]),
      ("\(prefix)embeddings.position_embeddings.weight", [positions, width]),
      ("\(prefix)embeddings.token_type_embeddings.weight", [2, width]),
    ]
    tensors += norm("\(prefix)embeddings.LayerNorm")
    for name in ["self.query", "self.key", "self.value", "output.dense"] {
      tensors += linear("\(layer)attention.\(name)")
    }
    tensors += norm("\(layer)attention.output.LayerNorm") + linear("\(layer)intermediate.dense")
    tensors += linear("\(layer)output.dense") + norm("\(layer)output.LayerNorm")
    model.addWeights(tensors + head)
    return model
  }

  static var answering: ZeroModel {
    encoder(
      "BertForQuestionAnswering", prefix: "bert.",
      head: [("qa_outputs.weight", [2, width]), ("qa_outputs.bias", [2])])
  }

  static var classifying: ZeroModel {
    encoder(
      "BertForSequenceClassification", prefix: "bert.",
      head: [
        ("bert.pooler.dense.weight", [width, width]), ("bert.pooler.dense.bias", [width]),
        ("classifier.weight", [2, width]), ("classifier.bias", [2]),
      ])
  }

  static var entities: ZeroModel {
    encoder(
      "BertForTokenClassification", prefix: "bert.",
      head: [("classifier.weight", [2, width]), ("classifier.bias", [2])])
  }

  static var embedding: ZeroModel { encoder("BertModel", prefix: "", head: []) }

  static var wordCounts: ZeroModel {
    var model = ZeroModel()
    model.files["config.json"] = Array(
      """
      {"architectures": ["WordCountClassifier"], "id2label": {"0": "x", "1": "y"}, "vocab_size": 2,
       "min_word_length": 1, "min_distinct_words": 1, "max_ngram": 2}
      """.utf8)
    model.files["vocab.txt"] = lines(["a", "a b"])
    model.addWeights([("classifier.weight", [2, 2]), ("classifier.bias", [2])])
    return model
  }

  static var recurrent: ZeroModel {
    var model = ZeroModel()
    model.files["config.json"] = Array(
      """
      {"architectures": ["GRULanguageModel"], "model_type": "gru", "vocab_size": 4,
       "embedding_size": \(width), "hidden_size": \(width), "num_hidden_layers": 1, "tokenization": "word"}
      """.utf8)
    model.files["vocab.txt"] = lines(["<unk>", "</s>", "a", "b"])
    model.addWeights([
      ("embedding.weight", [4, width]), ("gru.weight_ih_l0", [3 * width, width]),
      ("gru.weight_hh_l0", [3 * width, width]), ("gru.bias_ih_l0", [3 * width]),
      ("gru.bias_hh_l0", [3 * width]), ("decoder.weight", [4, width]), ("decoder.bias", [4]),
    ])
    return model
  }

  private static func lines(_ words: [String]) -> [UInt8] {
    Array((words.joined(separator: "\n") + "\n").utf8)
  }

  /// Tensors of f32 zeros, in the safetensors format: the header's length, the header, the data.
  private mutating func addWeights(_ tensors: [(name: String, shape: [Int])]) {
    var offset = 0
    var entries: [String] = []
    for tensor in tensors {
      let end = offset + 4 * tensor.shape.reduce(1, *)
      entries.append(
        "\"\(tensor.name)\": {\"dtype\": \"F32\", \"shape\": \(tensor.shape), \"data_offsets\": [\(offset), \(end)]}"
      )
      offset = end
    }
    var header = Array("{\(entries.joined(separator: ", "))}".utf8)
    while header.count % 8 != 0 { header.append(UInt8(ascii: " ")) }
    let length = (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) }
    files["model.safetensors"] = length + header + [UInt8](repeating: 0, count: offset)
  }

  /// Loads the model through the ABI, has it used, and gives it back.
  func use(_ body: (OpaquePointer) -> Void) {
    withFiles { files in
      var options = bertqa_context_options()
      options.struct_size = MemoryLayout<bertqa_context_options>.size
      options.threads = 1
      var context: OpaquePointer?
      _ = bertqa_context_create_from_files(files, files.count, &options, &context)
      if let context { body(context) }
      bertqa_context_free(context)
    }
  }

  /// The files at fixed addresses, which a context borrows.
  func withFiles(_ body: ([bertqa_file]) -> Void) {
    guard let files = try? files.map({ (name: CString($0.key), bytes: try CArray($0.value)) }) else { return }
    body(files.map { bertqa_file(name: $0.name.pointer, data: $0.bytes.base, size: $0.bytes.count) })
    withExtendedLifetime(files) {}
  }
}
