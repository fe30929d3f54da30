import Glibc
struct LinearWeights: Sendable { var weight: TensorView; var bias: TensorView }
struct NormWeights: Sendable { var weight: TensorView; var bias: TensorView }
struct LayerWeights: Sendable {
  var query: LinearWeights
  var key: LinearWeights
  var value: LinearWeights
  var attentionOutput: LinearWeights
  var attentionNorm: NormWeights
  var intermediate: LinearWeights
  var output: LinearWeights
  var outputNorm: NormWeights
}
struct EncoderWeights: Sendable {
  var wordEmbeddings: TensorView
  var positionEmbeddings: TensorView
  var tokenTypeEmbeddings: TensorView?
  var embeddingNorm: NormWeights
  var layers: [LayerWeights]
}

struct ModelConfiguration: Sendable {
  enum A: String { case bertForQuestionAnswering = "BertForQuestionAnswering" }
  var architecture: A = .bertForQuestionAnswering
  var noAnswerThreshold: Float = 0
  var vocabSize: Int
  var hiddenSize: Int
  var layerCount: Int
  var headCount: Int
  var intermediateSize: Int
  var maxPositions: Int
  var typeVocabSize: Int
  var layerNormEps: Float
}
final class LoadedModel: Sendable {
  let configuration: ModelConfiguration
  let encoder: EncoderWeights
  let questionAnswering: LinearWeights
  let vocabulary: Vocabulary
  let tokenizerConfiguration = TokenizerConfiguration()
  let file: MappedFile
  init(directory: String) throws(BertQAError) {
    let cf = try MappedFile(path: directory + "/config.json"); defer { withExtendedLifetime(cf) {} }
    let json = try JSONParser.parse(cf.bytes.bindMemory(to: UInt8.self), file: "config.json")
    guard case .object(let o) = json else { fatalError() }
    func n(_ k: String) -> Int { if case .number(let x)? = o[k] { return Int(x.double) }; fatalError(k) }
    func d(_ k: String) -> Double { if case .number(let x)? = o[k] { return x.double }; fatalError(k) }
    configuration = ModelConfiguration(vocabSize: n("vocab_size"), hiddenSize: n("hidden_size"), layerCount: n("num_hidden_layers"), headCount: n("num_attention_heads"), intermediateSize: n("intermediate_size"), maxPositions: n("max_position_embeddings"), typeVocabSize: n("type_vocab_size"), layerNormEps: Float(d("layer_norm_eps")))
    let v = try MappedFile(path: directory + "/vocab.txt")
    defer { withExtendedLifetime(v) {} }
    vocabulary = try Vocabulary(vocabularyFile: v.bytes.bindMemory(to: UInt8.self))
    let f = try MappedFile(path: directory + "/model.safetensors")
    file = f
    let st = try Safetensors(f)
    func t(_ name: String) -> TensorView {
      let e = st.entries["bert." + name] ?? st.entries[name]!
      return TensorView(name: name, file: f.path, dataType: DataType(rawValue: e.type.name)!, shape: e.shape, bytes: UnsafeRawBufferPointer(rebasing: f.bytes[e.range]))
    }
    func l(_ p: String) -> LinearWeights { LinearWeights(weight: t(p + ".weight"), bias: t(p + ".bias")) }
    func m(_ p: String) -> NormWeights { NormWeights(weight: t(p + ".weight"), bias: t(p + ".bias")) }
    encoder = EncoderWeights(wordEmbeddings: t("embeddings.word_embeddings.weight"), positionEmbeddings: t("embeddings.position_embeddings.weight"), tokenTypeEmbeddings: t("embeddings.token_type_embeddings.weight"), embeddingNorm: m("embeddings.LayerNorm"), layers: (0..<configuration.layerCount).map { i in
      let p = "encoder.layer.\(i)."
      return LayerWeights(query: l(p + "attention.self.query"), key: l(p + "attention.self.key"), value: l(p + "attention.self.value"), attentionOutput: l(p + "attention.output.dense"), attentionNorm: m(p + "attention.output.LayerNorm"), intermediate: l(p + "intermediate.dense"), output: l(p + "output.dense"), outputNorm: m(p + "output.LayerNorm"))
    })
    questionAnswering = l("qa_outputs")
  }
  static func load(directory: String) throws(BertQAError) -> LoadedModel { try LoadedModel(directory: directory) }
}
struct LoadedTokenizer { var vocabulary: Vocabulary; var configuration: TokenizerConfiguration; static func load(path: String) throws(BertQAError) -> LoadedTokenizer { let f = try MappedFile(path: path + "/vocab.txt"); defer { withExtendedLifetime(f) {} }; return LoadedTokenizer(vocabulary: try Vocabulary(vocabularyFile: f.bytes.bindMemory(to: UInt8.self)), configuration: TokenizerConfiguration()) } }
