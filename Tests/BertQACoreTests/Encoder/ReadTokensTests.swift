import Foundation
import Testing

@testable import BertQACore

/// If a head reads only some tokens, so does the last layer, and no bit of these changes.
@Suite struct ReadTokensTests {
  typealias Path = PrecisionTests.Path

  static let paths = PrecisionTests.paths + instructionSets.map { Path(precision: .f32, isa: $0) }

  static let lengths = [
    [64], [17], [1], [16, 16, 3],
    [60, 64, 1, 7, 64, 55, 31, 2, 64, 20, 33, 49, 5, 4, 64, 64, 64, 64, 64, 64],
    [Int](repeating: 4, count: 150),
  ]

  /// The mean reads all tokens, so its pass computes all of the last layer.
  private func expectEqualBits(_ model: LoadedModel, _ path: Path) throws {
    let tiny = try TinyModel("tiny-bert")
    let width = model.configuration.hiddenSize
    for threads in [1, 3] {
      let encoder = try Encoder(
        model: model, precision: path.precision, kernels: try #require(Kernels(isa: path.isa)),
        threadLimit: threads)
      for lengths in Self.lengths {
        var batch = tiny.batch(lengths: lengths)
        let rows = Int32(model.configuration.vocabSize)
        batch.ids = batch.ids.map { $0 % rows }
        let whole = TokenPooling(modes: [.first, .mean, .last])
        let expected = BertQACoreTests.rows(try encoder.vectors(whole, of: batch), width: 3 * width)
        for (modes, columns) in [([.first], [0]), ([.last], [2]), ([.last, .first], [2, 0])]
          as [([TokenPooling.Mode], [Int])]
        {
          let found = try encoder.vectors(TokenPooling(modes: modes), of: batch)
          let wanted = expected.flatMap { row in
            columns.flatMap { row[$0 * width..<($0 + 1) * width] }
          }
          #expect(found.map(\.bitPattern) == wanted.map(\.bitPattern), "\(modes), \(lengths)")
        }
      }
    }
  }

  @Test(arguments: TextEmbedderTests.names, paths)
  func vectorsOfReadTokensAreThoseOfTheWholeLayer(name: String, path: Path) throws {
    try expectEqualBits(LoadedModel(ModelDirectory(path: TinyModel.path(name))), path)
  }

  /// ModernBERT's last layer reads the whole window in the models that exist, and may be a local one.
  @Test(arguments: paths)
  func theLastLayerMayBeLocal(path: Path) throws {
    let directory = try TemporaryDirectory()
    try directory.copyFiles(ofTiny: "tiny-modernbert-embedder")
    let data = try Data(directory.bytes("config.json"))
    var config = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    config["layer_types"] = ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention"]
    let changed = try JSONSerialization.data(withJSONObject: config)
    try directory.write(String(decoding: changed, as: UTF8.self), to: "config.json")
    let model = try LoadedModel(ModelDirectory(path: directory.path))
    #expect(model.configuration.alternating?.isLocal.last == true)
    try expectEqualBits(model, path)
  }

  @Test func onlyFirstAndLastAreRead() {
    #expect(ReadTokens(.tokens).isAll)
    #expect(ReadTokens(.window(.mean)).isAll)
    #expect(ReadTokens(.window(TokenPooling(modes: [.first, .mean]))).isAll)
    #expect(ReadTokens(.window(.first)).slots == 1)
    let both = ReadTokens(.window(TokenPooling(modes: [.last, .first])))
    var window = Window(firstToken: 0, tokenCount: 9, secondSegment: 9)
    #expect(both.slots == 2 && both.token(0, of: window) == 0 && both.token(1, of: window) == 8)
    #expect(ReadTokens(.window(TokenPooling(modes: [.last]))).token(0, of: window) == 8)
    // Behind a prompt that the vector leaves out.
    window.unpooledCount = 3
    #expect(both.token(0, of: window) == 3 && both.token(1, of: window) == 8)
  }
}
