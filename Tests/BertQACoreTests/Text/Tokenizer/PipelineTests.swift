import Foundation
import Testing

@testable import BertQACore

@Suite struct PipelineTests {
  private static let folder = TokenizerFixture.folder.deletingLastPathComponent()

  private static func tokenizer(_ kind: String) throws -> any Tokenizer {
    try TokenizerFiles(path: folder.appendingPathComponent("pipeline-\(kind)").path).makeTokenizer()
  }

  private static func tokens(
    _ tokenizer: any Tokenizer, _ text: [UInt8], parseSpecialTokens: Bool = false,
    _ call: CallOptions = CallOptions()
  ) throws -> Tokens {
    var tokens = Tokens()
    try text.withUnsafeBufferPointer {
      try tokenizer.tokenize($0, parseSpecialTokens: parseSpecialTokens, into: &tokens, CallMonitor(call))
    }
    return tokens
  }

  @Test(arguments: ["byte-level", "characters", "unigram"])
  func equalsReferenceOnGoldenCases(kind: String) throws {
    let tokenizer = try Self.tokenizer(kind)
    let path = Self.folder.appendingPathComponent("pipeline-\(kind)/cases.jsonl")
    var count = 0
    for line in try Data(contentsOf: path).split(separator: UInt8(ascii: "\n")) {
      let fields = try #require(try JSONSerialization.jsonObject(with: line) as? [Any])
      let parses = try #require(fields[0] as? Bool)
      let encoded = try #require(fields[1] as? String)
      let text = [UInt8](try #require(Data(base64Encoded: encoded)))
      let numbers = fields[2...].compactMap { $0 as? [Int] }
      let expected = Tokens(
        ids: numbers[0].map(Int32.init), starts: numbers[1].map(UInt32.init),
        ends: numbers[2].map(UInt32.init))
      #expect(
        try Self.tokens(tokenizer, text, parseSpecialTokens: parses) == expected,
        "\(String(decoding: text, as: UTF8.self).debugDescription)")
      count += 1
    }
    #expect(count > 700)
  }

  @Test func templatesAndPieces() throws {
    let tokenizer = try Self.tokenizer("byte-level")
    #expect(tokenizer.template == Template(prefix: [0], separator: [2, 2], suffix: [2]))
    #expect(tokenizer.vocabularySize == 902)
    for id in 0..<Int32(tokenizer.vocabularySize) {
      let piece = tokenizer.piece(id)
      #expect(tokenizer.id(of: piece) == id)
      #expect(piece.baseAddress?[piece.count] == 0)
    }
    #expect(tokenizer.piece(902).isEmpty)
    #expect(tokenizer.piece(-1).isEmpty)
    #expect(!tokenizer.lowercases)
    #expect(try Self.tokenizer("characters").lowercases)
    #expect(try Self.tokenizer("characters").template.isEmpty)
  }

  @Test func wordsOfByteLevelPieces() throws {
    let tokenizer = try Self.tokenizer("byte-level")
    let text = "(Pariser) isn't 15%, ähm 漢"
    let tokens = try Self.tokens(tokenizer, Array(text.utf8))
    var words: [String] = []
    let isSameWord = Array(text.utf8).withUnsafeBufferPointer { text in
      (0..<tokens.count).map { tokenizer.continuesWord($0, of: tokens, in: text) }
    }
    for index in 0..<tokens.count {
      let range = Int(tokens.starts[index])..<Int(tokens.ends[index])
      let part = String(decoding: Array(text.utf8)[range], as: UTF8.self)
      // A character of several tokens has the whole range for each of them.
      let repeats = index > 0 && tokens.starts[index] == tokens.starts[index - 1]
      if isSameWord[index] {
        words[words.count - 1] += repeats ? "" : part
      } else {
        words.append(part)
      }
    }
    // A space that is a separate token has no range.
    words.removeAll { $0.isEmpty }
    #expect(words == ["(", "Pariser", ")", "isn", "'", "t", "15", "%", ",", "ähm", "漢"])
  }

  @Test func refusesTokensBeyondTheVocabulary() throws {
    let path = Self.folder.appendingPathComponent("pipeline-byte-level/tokenizer.json")
    let text = try String(contentsOf: path, encoding: .utf8)
    let damaged = text.replacingOccurrences(of: #""sep":["</s>",2]"#, with: #""sep":["</s>",902]"#)
    let files = { (text: String) in ["tokenizer.json": Array(text.utf8)] }
    _ = try TokenizerFiles(ModelDirectory(files: files(text)))
    let error = failure { _ = try TokenizerFiles(ModelDirectory(files: files(damaged))) }
    #expect(error?.status == .invalidModel)
    #expect(error?.message.contains("adds the token 902") == true, "\(String(describing: error))")
  }

  @Test func agreesWithItsOwnDefinitionOnly() throws {
    let tokenizer = try Self.tokenizer("byte-level")
    #expect(tokenizer.agrees(with: try Self.tokenizer("byte-level")))
    #expect(!tokenizer.agrees(with: try Self.tokenizer("characters")))
    #expect(!tokenizer.agrees(with: try makeTokenizer(["a"])))
  }

  @Test func longWordsComeOutAsInParts() throws {
    let tokenizer = try Self.tokenizer("byte-level")
    // One word: merges reach no further than a piece is long, so its middle repeats.
    let word = Array(String(repeating: "abcdefgh", count: 20_000).utf8)
    let tokens = try Self.tokens(tokenizer, word)
    #expect(tokens.starts.first == 0 && tokens.ends.last == UInt32(word.count))
    for index in 1..<tokens.count { #expect(tokens.starts[index] == tokens.ends[index - 1]) }
    let period = tokens.ids.count / 20_000
    try #require(period > 0)
    #expect(
      Array(tokens.ids[1000 * period..<1008 * period]) == Array(tokens.ids[9000 * period..<9008 * period]))
  }

  @Test func callsAreLimitedAndStopped() throws {
    let tokenizer = try Self.tokenizer("byte-level")
    let text = Array(String(repeating: "die Größe der Straße ", count: 50_000).utf8)
    var call = CallOptions()
    call.maxBytes = 100_000
    #expect(failure { _ = try Self.tokens(tokenizer, text, call) }?.status == .tooLarge)
    call = CallOptions()
    call.deadline = 1
    #expect(failure { _ = try Self.tokens(tokenizer, text, call) }?.status == .deadlineExceeded)
    // Afterwards it works as before.
    #expect(try Self.tokens(tokenizer, text).count > 50_000)
  }
}
