// Stand-ins for the branch `model`.
enum DataType: Sendable { case f32, f16, bf16, i8 }

struct TensorView: @unchecked Sendable {
  var name: String
  var file: String
  var dataType: DataType
  var shape: [Int]
  var bytes: UnsafeRawBufferPointer
  var rowScales: UnsafeBufferPointer<Float>?

  func copyFloats(rows: Range<Int>, to output: UnsafeMutablePointer<Float>) {
    let width = shape.dropFirst().reduce(1, *)
    for (offset, index) in (rows.lowerBound * width..<rows.upperBound * width).enumerated() {
      output[offset] = bytes.loadUnaligned(fromByteOffset: 4 * index, as: Float.self)
    }
  }
}

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
  enum A: String { case bert }
  var architecture: A = .bert
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
  let vocabulary: Vocabulary; 
  let tokenizerConfiguration = TokenizerConfiguration()
  static func load(directory: String) throws(BertQAError) -> LoadedModel { fatalError() }
  init(configuration: ModelConfiguration, encoder: EncoderWeights, questionAnswering: LinearWeights) {
    self.configuration = configuration; fatalError()
    self.encoder = encoder
    self.questionAnswering = questionAnswering
  }
}
struct LoadedTokenizer { var vocabulary: Vocabulary; var configuration: TokenizerConfiguration; static func load(path: String) throws(BertQAError) -> LoadedTokenizer { fatalError() } }
