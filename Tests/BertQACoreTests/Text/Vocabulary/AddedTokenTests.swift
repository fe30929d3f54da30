import Testing

@testable import BertQACore

/// Added tokens with the white space around them.
@Suite struct AddedTokenTests {
  /// A tokenizer of the words x and y that finds `<m>` (3) and a space (4) as added tokens.
  private static func tokenizer(_ marker: String, _ space: String, isNormalized: Bool) throws -> any Tokenizer
  {
    let text = """
      {"added_tokens": [
        {"id": 3, "content": "<m>", "normalized": \(isNormalized), \(marker)},
        {"id": 4, "content": " ", "normalized": \(isNormalized), \(space)}],
       "pre_tokenizer": {"type": "WhitespaceSplit"},
       "model": {"type": "WordLevel", "vocab": {"?": 0, "x": 1, "y": 2}, "unk_token": "?"}}
      """
    return try TokenizerFiles(ModelDirectory(files: ["tokenizer.json": Array(text.utf8)])).makeTokenizer()
  }

  private static func tokens(_ text: String, _ tokenizer: any Tokenizer) throws -> Tokens {
    try Array(text.utf8).withElements { text throws(BertQAError) in try tokenizer.tokens(of: text, nil) }
  }

  /// White space that a token takes is no other token: tokenizers finds it twice, or panics.
  @Test(arguments: [false, true])
  func whiteSpaceBelongsToOneToken(isNormalized: Bool) throws {
    let cases: [(text: String, ids: [Int32], starts: [UInt32], ends: [UInt32])] = [
      ("<m>  x", [3, 1], [0, 5], [5, 6]),
      ("x <m> y", [1, 4, 3, 2], [0, 1, 2, 6], [1, 2, 6, 7]),
      ("<m>  <m>   ", [3, 3], [0, 5], [5, 11]),
      ("<m>\n \u{3000}x  y", [3, 1, 4, 4, 2], [0, 8, 9, 10, 11], [8, 9, 10, 11, 12]),
    ]
    for space in [#""lstrip": false"#, #""lstrip": true"#] {
      let tokenizer = try Self.tokenizer(#""rstrip": true"#, space, isNormalized: isNormalized)
      for (text, ids, starts, ends) in cases {
        #expect(
          try Self.tokens(text, tokenizer) == Tokens(ids: ids, starts: starts, ends: ends), "\(text) \(space)"
        )
      }
    }
  }

  /// Of tokens that the normalizer makes equal, the first is found, and special ones before others: as in tokenizers
  /// 0.22. In 0.23 it is any of them.
  @Test(arguments: [(false, false, 1), (false, true, 2), (true, false, 1), (true, true, 1)])
  func equalSpellings(isFirstSpecial: Bool, isSecondSpecial: Bool, id: Int32) throws {
    for (first, second) in [("COVID", "covid"), ("covid", "COVID")] {
      let text = """
        {"added_tokens": [
          {"id": 1, "content": "\(first)", "normalized": true, "special": \(isFirstSpecial)},
          {"id": 2, "content": "\(second)", "normalized": true, "special": \(isSecondSpecial)}],
         "normalizer": {"type": "Lowercase"},
         "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}}
        """
      let tokenizer = try TokenizerFiles(ModelDirectory(files: ["tokenizer.json": Array(text.utf8)]))
        .makeTokenizer()
      let pipeline = try #require(tokenizer as? PipelineTokenizer)
      #expect(pipeline.vocabularySize == 3)
      #expect(pipeline.tokens("COVIDcovid", parseSpecialTokens: true).ids == [id, id])
      let isFound = !isFirstSpecial && !isSecondSpecial
      #expect(pipeline.tokens("covid", parseSpecialTokens: false).ids == [isFound ? id : 0])
    }
  }

  @Test func longWhiteSpaceCanBeCancelled() throws {
    var token = AddedToken("<m>")
    token.stripsRight = true
    var matcher = AddedTokenMatcher()
    try matcher.add(token, id: 0, spelling: Array("<m>".utf8))
    var options = CallOptions()
    options.cancellation = Cancellation { true }
    let error = failure {
      var position = 0
      try Array(("<m>" + String(repeating: " ", count: 1 << 17)).utf8).withElements {
        text throws(BertQAError) in
        _ = try matcher.next(
          in: text, from: &position, behind: 0, parseSpecialTokens: false, CallMonitor(options))
      }
    }
    #expect(error?.status == .cancelled)
  }

  /// The white space before a token is read once: an earlier token may have it.
  @Test func manyTokensOfWhiteSpaceTakeLinearTime() throws {
    let tokenizer = try Self.tokenizer(#""rstrip": false"#, #""lstrip": true"#, isNormalized: false)
    let count = 1_000_000
    let tokens = try Self.tokens(String(repeating: " ", count: count), tokenizer)
    #expect(tokens.ids.allSatisfy { $0 == 4 })
    #expect(tokens.starts == (0..<UInt32(count)).map { $0 })
  }
}
