import Foundation
import Testing

@testable import BertQACore

@Suite struct WordPieceTokenizerTests {
  @Test func equalsReferenceOnGoldenCases() throws {
    let cases = try TokenizerFixture.cases()
    #expect(cases.count > 2000)
    let vocabulary = try TokenizerFixture.vocabulary()
    var tokenizers: [(TokenizerConfiguration, PipelineTokenizer)] = []
    for golden in cases {
      let tokenizer: PipelineTokenizer
      if let known = tokenizers.first(where: { $0.0 == golden.configuration }) {
        tokenizer = known.1
      } else {
        tokenizer = try PipelineTokenizer(Pipeline(bert: golden.configuration, vocabulary))
        tokenizers.append((golden.configuration, tokenizer))
      }
      let tokens = tokenizer.tokens(
        golden.text, parseSpecialTokens: golden.parsesSpecialTokens)
      #expect(
        tokens == golden.expected,
        "\(golden.configuration) \(String(decoding: golden.text, as: UTF8.self).debugDescription)")
    }
    #expect(tokenizers.count == 12)
  }

  @Test func splitsGreedily() throws {
    let tokenizer = try makeTokenizer(["un", "una", "##aff", "##ff", "##able", "!", "caf", "##e"])
    #expect(tokenizer.pieces("Unaffable!") == ["una", "##ff", "##able", "!"])
    #expect(tokenizer.pieces("unaffabl") == ["[UNK]"])
    let tokens = tokenizer.tokens(" Cafe\u{301}\u{0}!")
    #expect(tokens.starts == [1, 4, 8])
    #expect(tokens.ends == [4, 5, 9])
    #expect(tokenizer.pieces("Café") == ["caf", "##e"])
  }

  @Test func offsetsAddressDamagedText() throws {
    let tokenizer = try makeTokenizer(["a", "b", "ab"])
    // The truncated euro sign and the lone continuation byte are dropped; the word goes on.
    let tokens = tokenizer.tokens([0x61, 0xE2, 0x82, 0x62, 0x20, 0x80, 0x62])
    #expect(tokens.ids == [7, 6])
    #expect(tokens.starts == [0, 6])
    #expect(tokens.ends == [4, 7])
  }

  @Test func specialTokenStringsAreTextUnlessAskedFor() throws {
    let tokenizer = try makeTokenizer(["[", "]", "sep", "a"])
    #expect(tokenizer.pieces("a[SEP]a[sep]") == ["a", "[", "sep", "]", "a", "[", "sep", "]"])
    #expect(
      tokenizer.pieces("a[SEP]a[sep]", parseSpecialTokens: true) == [
        "a", "[SEP]", "a", "[", "sep", "]",
      ])
    #expect(tokenizer.tokens("a[[MASK]", parseSpecialTokens: true).starts == [0, 1, 2])
  }

  @Test func longestSpecialTokenWins() throws {
    var configuration = TokenizerConfiguration()
    configuration.maskToken = "[SEP][SEP]"
    let tokenizer = try makeTokenizer(["[SEP][SEP]"], configuration)
    #expect(
      tokenizer.pieces("[SEP][SEP][SEP]", parseSpecialTokens: true) == ["[SEP][SEP]", "[SEP]"])
  }

  @Test func requiredSpecialTokensMustBePieces() throws {
    let vocabulary = try Vocabulary(pieces: ["[UNK]", "[SEP]", "x"].map { Array($0.utf8) })
    do {
      _ = try Pipeline(bert: TokenizerConfiguration(), vocabulary)
      Issue.record("a vocabulary without [CLS] was accepted")
    } catch {
      #expect(error.status == .invalidModel)
      #expect(error.message.contains("[CLS]"))
    }
    var configuration = TokenizerConfiguration()
    configuration.clsToken = "x"
    let pipeline = try Pipeline(bert: configuration, vocabulary)
    #expect(pipeline.model.unknownID == 0)
    #expect(pipeline.postProcessor.template == Template(prefix: [2], separator: [1], suffix: [1]))
    // Only tokens of the vocabulary.
    #expect(pipeline.addedTokens.map(\.content) == ["[UNK]", "[SEP]", "x"])
  }

  @Test func wordsOfMoreThanAHundredCharactersAreUnknown() throws {
    let tokenizer = try makeTokenizer(["a", "##a", "я", "##я"])
    for letter in ["a", "я"] {
      let size = UInt32(letter.utf8.count)
      #expect(tokenizer.tokens(String(repeating: letter, count: 100)).count == 100)
      let tokens = tokenizer.tokens(String(repeating: letter, count: 101) + " " + letter)
      #expect(tokens.ids.first == tokenizer.pipeline.model.unknownID && tokens.count == 2)
      #expect(tokens.ends == [101 * size, 102 * size + 1])
    }
  }

  @Test func longTexts() throws {
    let tokenizer = try makeTokenizer(["a", "##a", "word", "中", "!"])
    let size = 1 << 19
    let endless = tokenizer.tokens([UInt8](repeating: 0x61, count: size))
    #expect(endless.ids == [0] && endless.ends == [UInt32(size)])
    // More tokens than are kept before they are moved to the result.
    #expect(tokenizer.tokens(String(repeating: "word ", count: 5000)).count == 5000)
    #expect(tokenizer.tokens(String(repeating: "!", count: 5000)).starts.last == 4999)
    #expect(tokenizer.tokens(String(repeating: "中", count: 5000)).ends.last == 15000)
    let hundred = String(repeating: "a", count: 100) + " "
    #expect(tokenizer.tokens(String(repeating: hundred, count: 50)).count == 5000)
    // One run of combining characters that stay (U+302E), to be ordered as a whole.
    let run = tokenizer.tokens("a" + String(repeating: "\u{302E}\u{301}", count: 20000))
    #expect(run.ids == [0])
  }

  /// Where the pass over the caller's text cannot be taken, the steps one by one give the same.
  @Test func stepsGiveWhatOnePassGives() throws {
    struct NoStep: PreTokenizer {
      func cut(_ preTokens: inout PreTokens, _ monitor: CallMonitor?) throws(BertQAError) {}
    }
    let vocabulary = try TokenizerFixture.vocabulary()
    var tokenizers: [(TokenizerConfiguration, PipelineTokenizer)] = []
    for golden in try TokenizerFixture.cases() {
      if !tokenizers.contains(where: { $0.0 == golden.configuration }) {
        var pipeline = try Pipeline(bert: golden.configuration, vocabulary)
        #expect(pipeline.characterTable != nil)
        pipeline.preTokenizers.append(NoStep())
        #expect(pipeline.characterTable == nil)
        tokenizers.append((golden.configuration, try PipelineTokenizer(pipeline)))
      }
      let tokenizer = try #require(tokenizers.first { $0.0 == golden.configuration }).1
      #expect(
        tokenizer.tokens(golden.text, parseSpecialTokens: golden.parsesSpecialTokens) == golden.expected,
        "\(golden.configuration) \(String(decoding: golden.text, as: UTF8.self).debugDescription)")
    }
  }

  @Test func anyBytesGiveOrderedRanges() throws {
    var configuration = TokenizerConfiguration()
    configuration.stripAccents = true
    let tokenizer = try TokenizerFixture.tokenizer(configuration)
    var generator = SplitMix64(seed: 7)
    let alphabet: [UInt8] =
      Array("aZ [SEP]\0".utf8) + [
        0x80, 0xBF, 0xC2, 0xCC, 0x81, 0xE3, 0x80, 0xAE, 0xE4, 0xB8, 0xAD, 0xED, 0x9F, 0xF0, 0x9D, 0x85,
        0xA5, 0xF4, 0xFF,
      ]
    for _ in 0..<4000 {
      let text = (0..<generator.next(below: 80)).map { _ in
        alphabet[generator.next(below: alphabet.count)]
      }
      let tokens = tokenizer.tokens(text, parseSpecialTokens: generator.next(below: 2) == 0)
      #expect(tokens.starts.count == tokens.count && tokens.ends.count == tokens.count)
      #expect(tokens.count <= text.count)
      var previous: UInt32 = 0
      for index in 0..<tokens.count {
        #expect(tokens.ids[index] >= 0 && tokens.ids[index] < tokenizer.vocabulary.count)
        #expect(tokens.starts[index] >= previous && tokens.starts[index] < tokens.ends[index])
        #expect(Int(tokens.ends[index]) <= text.count)
        previous = tokens.starts[index]
      }
    }
  }

  @Test func tokensAreReplaced() throws {
    let tokenizer = try makeTokenizer(["a"])
    var tokens = tokenizer.tokens("a a a")
    try Array("a".utf8).withUnsafeBufferPointer {
      try tokenizer.tokenize($0, parseSpecialTokens: false, into: &tokens, nil)
    }
    #expect(tokens == Tokens(ids: [5], starts: [0], ends: [1]))
    try tokenizer.tokenize(
      UnsafeBufferPointer(start: nil, count: 0), parseSpecialTokens: true, into: &tokens, nil)
    #expect(tokens == Tokens())
  }

  /// Texts in which the scanner finds no end of a word, no token, or nothing but tokens.
  @Test(arguments: ["!", " ", "a", "\u{E9}", "\u{0}", "\u{301}", "\u{16D65}", "\u{302E}", "a ", "[SE"])
  func stopsWithinAnyText(_ unit: String) throws {
    let tokenizer = try TokenizerFixture.tokenizer()
    let text = Array(String(repeating: unit, count: 400_000 / unit.utf8.count).utf8)
    // The deadline is checked first after the first stretch of text.
    let polls = Polls()
    var options = CallOptions()
    options.cancellation = Cancellation { polls.next() }
    for parsesSpecialTokens in [false, true] {
      let monitor = CallMonitor(options)
      var tokens = Tokens()
      let error = text.withUnsafeBufferPointer { text in
        failure {
          try tokenizer.tokenize(text, parseSpecialTokens: parsesSpecialTokens, into: &tokens, monitor)
        }
      }
      #expect(error?.status == .cancelled)
      #expect(tokens.count == 0)
    }
    #expect(polls.count == 2)
  }

  private final class Polls: @unchecked Sendable {  // used on the test's thread
    private(set) var count = 0

    func next() -> Bool {
      count += 1
      return true
    }
  }

  @Test func accountsForTheMemoryOfItsTokens() throws {
    let tokenizer = try TokenizerFixture.tokenizer()
    let text = Array(String(repeating: "! ", count: 10_000).utf8)
    try text.withUnsafeBufferPointer { text in
      var options = CallOptions()
      // The arrays' room, and what it grows from.
      options.maxBytes = 300_000
      let monitor = CallMonitor(options)
      let tokens = try tokenizer.tokens(of: text, monitor)
      #expect(tokens.count == 10_000 && monitor.heldBytes == tokens.capacityBytes)
      #expect((120_000...260_000).contains(tokens.capacityBytes))
      #expect(failure { _ = try tokenizer.tokens(of: text, monitor) }?.status == .tooLarge)
      // A failed call holds no memory.
      #expect(monitor.heldBytes == tokens.capacityBytes)
    }
  }

  @Test func threadsShareATokenizer() async throws {
    let tokenizer = try TokenizerFixture.tokenizer()
    let texts = try TokenizerFixture.cases().prefix(200).map(\.text)
    let expected = texts.map { tokenizer.tokens($0) }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask { texts.map { tokenizer.tokens($0) } == expected }
      }
      for await same in group { #expect(same) }
    }
  }
}

extension SplitMix64 {
  mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
