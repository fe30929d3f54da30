import Foundation
import Testing

@testable import BertQACore

/// The committed vocabulary and reference cases; see Fixtures/generate_tokenizer_cases.py.
enum TokenizerFixture {
  struct Case {
    var configuration: TokenizerConfiguration
    var parsesSpecialTokens: Bool
    var text: [UInt8]
    var expected: Tokens
  }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures/tokenizer")

  static func vocabulary() throws -> Vocabulary {
    try [UInt8](Data(contentsOf: folder.appendingPathComponent("vocab.txt")))
      .withUnsafeBufferPointer { try Vocabulary(vocabularyFile: $0) }
  }

  static func tokenizer(
    _ configuration: TokenizerConfiguration = TokenizerConfiguration()
  ) throws -> PipelineTokenizer {
    try PipelineTokenizer(Pipeline(bert: configuration, vocabulary()))
  }

  static func cases() throws -> [Case] {
    let file = try Data(contentsOf: folder.appendingPathComponent("cases.jsonl"))
    return try file.split(separator: UInt8(ascii: "\n")).map { line in
      let fields = try JSONSerialization.jsonObject(with: line) as! [Any]
      var configuration = TokenizerConfiguration()
      configuration.lowercase = fields[0] as! Bool
      configuration.stripAccents = fields[1] as? Bool
      configuration.tokenizeChineseCharacters = fields[2] as! Bool
      return Case(
        configuration: configuration, parsesSpecialTokens: fields[3] as! Bool,
        text: [UInt8](Data(base64Encoded: fields[4] as! String)!),
        expected: Tokens(
          ids: (fields[5] as! [Int]).map(Int32.init),
          starts: (fields[6] as! [Int]).map(UInt32.init),
          ends: (fields[7] as! [Int]).map(UInt32.init)))
    }
  }
}

extension PipelineTokenizer {
  var vocabulary: Vocabulary { pipeline.model.vocabulary }

  func tokens(_ text: [UInt8], parseSpecialTokens: Bool = false) -> Tokens {
    var tokens = Tokens()
    text.withUnsafeBufferPointer {
      do throws(BertQAError) {
        try tokenize($0, parseSpecialTokens: parseSpecialTokens, into: &tokens, nil)
      } catch {
        Issue.record(error)
      }
    }
    return tokens
  }

  func tokens(_ text: String, parseSpecialTokens: Bool = false) -> Tokens {
    tokens(Array(text.utf8), parseSpecialTokens: parseSpecialTokens)
  }

  /// The pieces of a text, for expectations that read well.
  func pieces(_ text: String, parseSpecialTokens: Bool = false) -> [String] {
    tokens(text, parseSpecialTokens: parseSpecialTokens).ids.map {
      String(decoding: vocabulary.piece($0), as: UTF8.self)
    }
  }
}

/// A vocabulary from pieces, with the special tokens in front.
func makeTokenizer(
  _ pieces: [String], _ configuration: TokenizerConfiguration = TokenizerConfiguration()
) throws -> PipelineTokenizer {
  let all = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"] + pieces
  return try PipelineTokenizer(
    Pipeline(bert: configuration, Vocabulary(pieces: all.map { Array($0.utf8) })))
}
