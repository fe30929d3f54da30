import Testing

@testable import BertQACore

@Suite struct WordTests {
  /// Tokens given by hand: ids are 3 for `a` and 4 for `##b`.
  final class FixedTokenizer: Tokenizer {
    let tokens: Tokens
    let template = Template(prefix: [0], separator: [1], suffix: [1])
    let vocabularySize = 5
    let lowercases = false

    init(_ tokens: [(id: Int32, start: UInt32, end: UInt32)]) {
      self.tokens = Tokens(ids: tokens.map(\.id), starts: tokens.map(\.start), ends: tokens.map(\.end))
    }

    func tokenize(
      _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
      _ monitor: CallMonitor?
    ) { tokens = self.tokens }

    func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: nil, count: 0) }
    func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? { nil }
    func continuesWord(_ id: Int32) -> Bool { id == 4 }
    func agrees(with other: any Tokenizer) -> Bool { self === other }
  }

  static func words(_ text: String, _ tokens: [(id: Int32, start: UInt32, end: UInt32)]) throws -> [String] {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      let document = try PreparedDocument(
        borrowing: bytes, tokenizer: FixedTokenizer(tokens), CallMonitor(CallOptions()))
      return tokens.indices.map { token in
        document.bytes(
          ofTokens: document.firstTokenOfWord(token), through: document.lastTokenOfWord(token)
        ).text(in: text)
      }
    }
  }

  @Test func aWordIsAFirstPieceWithItsContinuations() throws {
    let words = try Self.words("abb aab", [(3, 0, 1), (4, 1, 2), (4, 2, 3), (3, 4, 5), (3, 5, 6), (4, 6, 7)])
    // Adjacent letters belong to one word, whatever their pieces are.
    #expect(words == ["abb", "abb", "abb", "aab", "aab", "aab"])
  }

  @Test func aCharacterThatNormalisationDropsDoesNotEndAWord() throws {
    let words = try Self.words("a\u{AD}b", [(3, 0, 1), (4, 3, 4)])
    #expect(words == ["a\u{AD}b", "a\u{AD}b"])
  }

  @Test func piecesOfOneCharacterAreOneWord() throws {
    #expect(try Self.words("한", [(3, 0, 3), (4, 0, 3)]) == ["한", "한"])
  }

  /// A vocabulary whose unknown token is `##b`, say.
  @Test func whiteSpaceEndsAWordWhateverThePiecesSay() throws {
    #expect(try Self.words("a b b", [(3, 0, 1), (4, 2, 3), (4, 4, 5)]) == ["a", "b", "b"])
    #expect(try Self.words("b", [(4, 0, 1)]) == ["b"])
  }
}
