import Testing

@testable import BertQACore

/// The cache of a tokenizer must affect only the time.
@Suite struct PreTokenCacheTests {
  private static func tokens(
    _ tokenizer: any Tokenizer, _ text: [UInt8], parseSpecialTokens: Bool = false
  ) throws -> Tokens {
    var tokens = Tokens()
    try text.withUnsafeBufferPointer {
      try tokenizer.tokenize($0, parseSpecialTokens: parseSpecialTokens, into: &tokens, nil)
    }
    return tokens
  }

  private static func fixture(_ kind: String) throws -> any Tokenizer {
    let folder = TokenizerFixture.folder.deletingLastPathComponent()
    return try TokenizerFiles(path: folder.appendingPathComponent("pipeline-\(kind)").path).makeTokenizer()
  }

  /// The memory of a huge text is freed; the tokens of the next one do not change.
  @Test(arguments: ["byte-level", "characters", "unigram"])
  func textsAfterAHugeOneComeOutTheSame(kind: String) throws {
    let tokenizer = try Self.fixture(kind)
    let text = Array("the king of france".utf8)
    let expected = try Self.tokens(tokenizer, text)
    #expect(!expected.ids.isEmpty)
    // Invalid UTF-8 makes nine bytes of each: more than 8 MiB.
    let huge = [0xFF] + [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
    _ = try Self.tokens(tokenizer, huge)
    #expect(try Self.tokens(tokenizer, text) == expected)
  }

  /// More words than are kept, of all sizes up to those that never are.
  @Test(arguments: ["byte-level", "unigram"])
  func wordsSeenBeforeComeOutTheSame(kind: String) throws {
    var random = TestRandom(21)
    var words: [[UInt8]] = []
    for count in 1...40 {
      // These differ in their size alone.
      words.append([UInt8](repeating: 0, count: count))
    }
    for index in 0..<2500 {
      let count =
        index % 3 == 0 ? Int.random(in: 1...24, using: &random) : Int.random(in: 25...300, using: &random)
      var word = ""
      while word.utf8.count < count { word.append("abeinrst中é的😀".randomElement(using: &random)!) }
      words.append(Array(word.utf8))
    }
    let tokenizer = try Self.fixture(kind)
    let first = try words.map { try Self.tokens(tokenizer, $0) }
    // Backwards, so that the last ones are still there.
    for index in words.indices.reversed() {
      #expect(try Self.tokens(tokenizer, words[index]) == first[index], "word \(index)")
    }
    // In one text each word has its ids again, wherever it lies.
    let chosen = words.indices.filter { _ in Int.random(in: 0..<8, using: &random) == 0 }
    let separator = Array("\u{3000}".utf8)
    for start in stride(from: 0, to: chosen.count - 2, by: 2) {
      let pair = [chosen[start], chosen[start + 1]]
      let alone = try Self.tokens(try Self.fixture(kind), words[pair[0]] + separator + words[pair[1]])
      #expect(
        try Self.tokens(tokenizer, words[pair[0]] + separator + words[pair[1]]) == alone, "words \(pair)")
      if start > 30 { break }
    }
  }

  /// A step that does nothing: behind it a Metaspace writes its marks into the text.
  private struct NoStep: PreTokenizer {
    func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {}
  }

  private static func marked(
    _ steps: [any PreTokenizer], _ normalizers: [any Normalizer], bytes: Bool
  ) throws -> PipelineTokenizer {
    var pieces: [(String, Double)] = [
      ("<unk>", 0), ("▁", -3), ("a", -2), ("b", -2), ("▁a", -2.5), ("ab", -2.2), ("▁ab", -3), ("中", -3),
      ("▁中", -4), ("中é", -4), ("▁▁", -1), ("<s>", 0), ("<", -3), ("é▁", -1), ("bbbbbbbb", -3),
    ]
    if bytes {
      pieces += (0..<256).map {
        ("<0x" + (($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased()) + ">", -9.0)
      }
    }
    let model = try UnigramModel(
      Vocabulary(pieces: pieces.map { Array($0.0.utf8) }), scores: pieces.map(\.1), unkID: 0,
      byteFallback: bytes, file: "test")
    var pipeline = Pipeline(normalizers: normalizers, preTokenizers: steps, model: model)
    pipeline.addedTokens = [AddedToken("<s>", isSpecial: true)]
    model.keepAsText(pipeline.addedTokens)
    return try PipelineTokenizer(pipeline)
  }

  /// A mark that is left to the model gives the ids and ranges of one that is in the text.
  @Test(arguments: [false, true], [false, true])
  func marksNeedNotBeInTheText(normalizes: Bool, bytes: Bool) throws {
    let metaspace = Metaspace("▁", .always, splits: true)
    let normalizers: [any Normalizer] = normalizes ? [FormNormalizer(.nfkc)] : []
    let left = try Self.marked([metaspace], normalizers, bytes: bytes)
    let written = try Self.marked([metaspace, NoStep()], normalizers, bytes: bytes)
    let spaced = try Self.marked([SplitStep(SpacePattern(), .removed), metaspace], normalizers, bytes: bytes)
    let spacedWritten = try Self.marked(
      [SplitStep(SpacePattern(), .removed), metaspace, NoStep()], normalizers, bytes: bytes)
    var random = TestRandom(33)
    let parts: [[UInt8]] =
      ["a", "b", "ab", "中", "é", "x", " ", "  ", "\u{3000}", "，", "😀", "<s>", "\n"].map { Array($0.utf8) }
      + [[0xFF], [UInt8](repeating: 0x62, count: 260)]
    for round in 0..<1500 {
      var text: [UInt8] = []
      for _ in 0..<Int.random(in: 1...12, using: &random) { text += parts.randomElement(using: &random)! }
      if round % 10 == 0 { text += Array("▁a".utf8) }
      for parses in [false, true] {
        let name = "\(text) \(parses)"
        #expect(
          try Self.tokens(left, text, parseSpecialTokens: parses)
            == Self.tokens(written, text, parseSpecialTokens: parses), "\(name)")
        #expect(
          try Self.tokens(spaced, text, parseSpecialTokens: parses)
            == Self.tokens(spacedWritten, text, parseSpecialTokens: parses), "\(name)")
      }
    }
  }
}
