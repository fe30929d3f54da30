import Testing

@testable import BertQACore

@Suite struct UnigramTests {
  private static func model(
    _ pieces: [(String, Double)], unkID: Int = 0, byteFallback: Bool = false
  ) throws -> UnigramModel {
    try UnigramModel(
      Vocabulary(pieces: pieces.map { Array($0.0.utf8) }), scores: pieces.map(\.1), unkID: unkID,
      byteFallback: byteFallback, file: "test")
  }

  /// Ids and ranges in the text, which is one word.
  private static func split(
    _ model: UnigramModel, _ text: String, parseSpecialTokens: Bool = false
  ) throws -> [[Int]] {
    var pipeline = Pipeline(model: model)
    pipeline.addedTokens = []
    var tokens = Tokens()
    let tokenizer = try PipelineTokenizer(pipeline)
    try Array(text.utf8).withUnsafeBufferPointer {
      try tokenizer.tokenize($0, parseSpecialTokens: parseSpecialTokens, into: &tokens, nil)
    }
    return (0..<tokens.count).map { [Int(tokens.ids[$0]), Int(tokens.starts[$0]), Int(tokens.ends[$0])] }
  }

  @Test func takesTheLargestSum() throws {
    let model = try Self.model([
      ("<unk>", 0), ("a", 0), ("b", 0), ("c", 0), ("d", 0), ("cd", 1), ("ab", 2), ("abc", 5), ("abcd", 10),
    ])
    #expect(try Self.split(model, "abcdacdxx") == [[8, 0, 4], [1, 4, 5], [5, 5, 7], [0, 7, 9]])
    // Again, from the words seen lately.
    #expect(try Self.split(model, "abcdacdxx") == [[8, 0, 4], [1, 4, 5], [5, 5, 7], [0, 7, 9]])
  }

  /// Every way through random texts, by trying all of them.
  @Test func noWayIsBetter() throws {
    var random = TestRandom(11)
    for _ in 0..<60 {
      var pieces: [(String, Double)] = [("<unk>", 0)]
      var seen: Set<String> = []
      for _ in 0..<Int.random(in: 3...40, using: &random) {
        let piece = String(
          (0..<Int.random(in: 1...4, using: &random)).map { _ in "abé中".randomElement(using: &random)! })
        if seen.insert(piece).inserted {
          pieces.append((piece, Double(Int.random(in: -9 ... -1, using: &random))))
        }
      }
      let model = try Self.model(pieces)
      let unkScore = pieces.map(\.1).min()! - 10
      for _ in 0..<20 {
        let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in
          "abé中x".randomElement(using: &random)!
        }
        var best = [Double](repeating: -.infinity, count: text.count + 1)
        best[0] = 0
        for end in 1...text.count {
          for begin in 0..<end {
            let part = String(text[begin..<end])
            if let piece = pieces.first(where: { $0.0 == part }) {
              best[end] = max(best[end], best[begin] + piece.1)
            } else if end == begin + 1 {
              best[end] = max(best[end], best[begin] + unkScore)
            }
          }
        }
        var sum = 0.0
        for token in try Self.split(model, String(text)) {
          let part = String(decoding: Array(String(text).utf8)[token[1]..<token[2]], as: UTF8.self)
          sum += token[0] == 0 ? unkScore * Double(part.count) : pieces[token[0]].1
        }
        #expect(abs(sum - best[text.count]) < 1e-9)
      }
    }
  }

  @Test func unknownCharactersJoinOrAreSpelledInBytes() throws {
    let bytes = (0..<256).map {
      ("<0x" + (($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased()) + ">", -9.0)
    }
    let plain = try Self.model([("<unk>", 0), ("a", -1)])
    #expect(try Self.split(plain, "xéa😀") == [[0, 0, 3], [1, 3, 4], [0, 4, 8]])
    let spelled = try Self.model([("<unk>", 0), ("a", -1)] + bytes, byteFallback: true)
    #expect(try Self.split(spelled, "éa") == [[0xC3 + 2, 0, 2], [0xA9 + 2, 0, 2], [1, 2, 3]])
    // Two unknown characters that together are a piece, of a score that no one would take.
    let together = try Self.model([("<unk>", 0), ("xy", 50), ("zzz", 200)])
    #expect(try Self.split(together, "xy") == [[1, 0, 2]])
  }

  @Test func specialPiecesAreTextUnlessAskedFor() throws {
    let model = try Self.model([("<unk>", 0), ("<s>", 0), ("<", -2), ("s", -2), (">", -2), ("a<s>", -1)])
    #expect(try Self.split(model, "<s>") == [[1, 0, 3]])
    model.keepAsText([AddedToken("<s>", isSpecial: true)])
    #expect(try Self.split(model, "<s>") == [[2, 0, 1], [3, 1, 2], [4, 2, 3]])
    #expect(try Self.split(model, "<s>", parseSpecialTokens: true) == [[1, 0, 3]])
    #expect(try Self.split(model, "a<s>") == [[5, 0, 4]])
  }

  @Test func triesFindWhatTheyHold() throws {
    var random = TestRandom(5)
    for size in [1, 2, 50, 3000] {
      var pieces: [[UInt8]] = []
      for _ in 0..<size {
        let letters = (0..<Int.random(in: 0...6, using: &random)).map { _ in
          "aбc中😀".randomElement(using: &random)!
        }
        pieces.append(Array(String(letters).utf8))
      }
      let trie = try Vocabulary(pieces: pieces).index.trie(nil)
      for (id, piece) in pieces.enumerated() {
        let last = pieces.lastIndex(of: piece) ?? id
        let found = piece.withUnsafeBufferPointer { trie.value(of: $0) }
        #expect(found == (piece.isEmpty ? nil : Int32(last)))
        let longer = piece + [0x7A]
        #expect(longer.withUnsafeBufferPointer { trie.value(of: $0) } == nil)
      }
    }
  }

  @Test func refusesWhatIsNoModel() throws {
    #expect(failure { _ = try Self.model([]) }?.status == .invalidModel)
    #expect(
      failure { _ = try Self.model([("a", 0)], unkID: 1) }?.message
        == "test: unk_id 1 is outside the 1 pieces of the vocabulary")
  }

  @Test func callsAreLimitedAndStopped() throws {
    let tokenizer = try PipelineTokenizer(Pipeline(model: try Self.model([("<unk>", 0), ("a", -1)])))
    let text = [UInt8](repeating: 0x61, count: 1 << 20)
    for (change, status) in [
      ({ $0.deadline = 1 }, Status.deadlineExceeded), ({ $0.maxBytes = 1 << 22 }, .tooLarge),
    ]
      as [((inout CallOptions) -> Void, Status)]
    {
      var call = CallOptions()
      change(&call)
      var tokens = Tokens()
      let error = failure {
        try text.withUnsafeBufferPointer {
          try tokenizer.tokenize($0, parseSpecialTokens: false, into: &tokens, CallMonitor(call))
        }
      }
      #expect(error?.status == status)
    }
  }
}
