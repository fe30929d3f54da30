import Testing

@testable import BertQACore

/// Attention by distance; the tests of all families compare the rest.
@Suite struct DistanceTests {
  /// The results of `MPNetEncoder.relative_position_bucket` in transformers 5.23.
  @Test func bucketsOfBiases() {
    let distances = [0, 7, 8, 15, 16, 31, 32, 63, 64, 90, 91, 127, 128, 500]
    #expect(distances.map(DistanceBuckets.bias) == [0, 7, 8, 9, 10, 11, 12, 13, 14, 14, 15, 15, 15, 15])
    #expect([-1, -8, -16, -32, -64, -128].map(DistanceBuckets.bias) == [17, 24, 26, 28, 30, 31])
  }

  /// The results of `make_log_bucket_position` in transformers 5.23, limited to the table's rows.
  @Test func rowsOfVectors() {
    let attention = DisentangledAttention(span: 256, bucketCount: 256, maxDistance: 512)
    func buckets(_ distances: [Int]) -> [Int] { distances.map { DistanceBuckets.row($0, attention) - 256 } }
    #expect(buckets([0, 1, 127, 128, 129, 130, 200, 256]) == [0, 1, 127, 128, 129, 130, 169, 192])
    #expect(buckets([300, 384, 500, 510, 511, 512, 600]) == [207, 229, 254, 255, 255, 255, 255])
    #expect(
      buckets([-1, -128, -129, -383, -511, -512, -1 << 40]) == [-1, -128, -129, -229, -255, -256, -256])
    let exact = DisentangledAttention(span: 20, maxDistance: 20)
    #expect([-21, -20, 0, 19, 20].map { DistanceBuckets.row($0, exact) } == [0, 0, 20, 39, 39])
  }

  /// Windows of more queries than are computed at once, divided among threads, with other windows around
  /// them.
  @Test(arguments: ["tiny-mpnet", "tiny-deberta", "tiny-deberta-v1"], PrecisionTests.paths + floatPaths)
  func longWindowsAreTheSameInAnyCompany(name: String, path: PrecisionTests.Path) throws {
    let tiny = try TinyModel(name)
    let batch = tiny.batch(lengths: [7, 200, 129, 180, 3, 200])
    let one = try #require(try tiny.encoder(isa: path.isa, precision: path.precision))
    let expected = try one.logits(of: batch)
    #expect(expected.start.allSatisfy { $0.isFinite })
    for threads in [2, 3] {
      let encoder = try #require(
        try tiny.encoder(threads: threads, isa: path.isa, precision: path.precision))
      let together = try encoder.logits(of: batch)
      #expect(together.start == expected.start && together.end == expected.end)
      for window in batch.windows {
        let tokens = window.firstToken..<window.firstToken + window.tokenCount
        let alone = try encoder.logits(
          of: WindowBatch(
            ids: Array(batch.ids[tokens]),
            windows: [
              Window(firstToken: 0, tokenCount: tokens.count, secondSegment: window.secondSegment)
            ]))
        #expect(alone.start == Array(expected.start[tokens]), "\(tokens.count) tokens")
      }
    }
  }

  private static let floatPaths = instructionSets.map {
    PrecisionTests.Path(precision: .f32, isa: $0)
  }

  private func configuration(_ members: String) throws -> ModelConfiguration {
    let directory = try TemporaryDirectory()
    let text = "{\"architectures\": [\"DebertaV2Model\"], \"relative_attention\": true, \(members)}"
    let reader = try ObjectReader(ModelFile(path: directory.write(text, to: "config.json")))
    return try ModelConfiguration(reader, Architecture(reader))
  }

  @Test func readsDisentangledAttention() throws {
    let v3 = try configuration(
      """
      "position_buckets": 256, "max_relative_positions": -1, "share_att_key": true,
      "norm_rel_ebd": "none| Layer_Norm", "pos_att_type": "p2c|c2p", "hidden_size": 768,
      "num_attention_heads": 12, "position_biased_input": false, "type_vocab_size": 0
      """)
    #expect(
      v3.disentangled
        == DisentangledAttention(
          span: 256, bucketCount: 256, maxDistance: 512, isNormalized: true, sharesProjections: true,
          hasQueryProducts: true, hasKeyProducts: true, productCount: 3))
    #expect(v3.attentionScale == 1 / Float(192).squareRoot())
    #expect(!v3.hasPositionTable && v3.typeVocabSize == 0 && v3.poolerActivation == nil)
    let old = try configuration("\"pos_att_type\": [\"c2p\"], \"pooler_hidden_act\": \"relu\"")
    #expect(
      old.disentangled
        == DisentangledAttention(span: 512, maxDistance: 512, hasQueryProducts: true, productCount: 2))
    #expect(old.hasPositionTable && old.poolerActivation == .relu)
    let without = try configuration("\"relative_attention\": false, \"pos_att_type\": [\"c2p\", \"p2c\"]")
    #expect(without.disentangled == DisentangledAttention(productCount: 3))
  }

  @Test(arguments: [
    ("\"conv_kernel_size\": 3", "\"conv_kernel_size\" is 3; only 0 (no convolution layer) is supported"),
    ("\"embedding_size\": 128", "\"embedding_size\" is 128; only 1536 is supported"),
    ("\"pos_att_type\": \"p2p\"", "\"pos_att_type\" has \"p2p\"; only \"c2p\" and \"p2c\" are supported"),
    ("\"position_buckets\": 2", "\"position_buckets\" is 2, expected 4 to 1021, as distances reach 512"),
    ("\"max_position_embeddings\": 20000", "with relative attention at most 16384 is supported"),
  ])
  func otherVariantsAreRefused(members: String, message: String) throws {
    let error = failure { _ = try configuration(members) }
    #expect(error?.message.hasSuffix(message) == true, "\(error?.message ?? "loaded")")
  }
}
