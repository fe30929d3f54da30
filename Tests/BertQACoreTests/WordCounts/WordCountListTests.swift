import Testing

@testable import BertQACore

@Suite struct WordCountListTests {
  private func counts(
    _ text: String, minWordLength: Int = 3, maxNGram: Int = 1
  ) throws -> [(String, Int)] {
    var options = WordCountOptions()
    options.minWordLength = minWordLength
    options.maxNGram = maxNGram
    let list = try WordCountList.of(text, options: options)
    return (0..<list.count).map { (list[$0].word, list[$0].count) }
  }

  private func expect(_ found: [(String, Int)], _ wanted: KeyValuePairs<String, Int>) {
    #expect(found.map(\.0) == wanted.map(\.key))
    #expect(found.map(\.1) == wanted.map(\.value))
  }

  @Test func wordsComeInTheOrderOfTheText() throws {
    expect(try counts("The fox saw the Fox; a FOX, an ox."), ["the": 2, "fox": 3, "saw": 1])
    expect(try counts("a an ox", minWordLength: 1), ["a": 1, "an": 1, "ox": 1])
    expect(try counts("don't 3.14 e_mail ΣΑΣ É!"), ["don't": 1, "3.14": 1, "e_mail": 1, "σας": 1])
    expect(try counts(""), [:])
    expect(try counts("!? \u{0} 😀 a"), [:])
  }

  @Test func pairsFollowTheirSecondWord() throws {
    expect(
      try counts("one two one two", maxNGram: 2), ["one": 2, "two": 2, "one two": 2, "two one": 1])
  }

  @Test func countsAreThoseOfTheClassifier() throws {
    let directory = try TemporaryDirectory()
    let corpus = TrainingCorpus(count: 60, labelCount: 2)
    let context = try corpus.context(directory)
    for text in corpus.texts {
      #expect(
        try WordCountList.of(text).count
          == context.classify(text, options: ClassifyOptions()).distinctWords)
    }
  }

  @Test func bytesThatAreNoUTF8AreNoWords() throws {
    let bytes: [UInt8] = Array("abc ".utf8) + [0xFF, 0xC3] + Array(" abc".utf8) + [0xE2, 0x82]
    let list = try bytes.withUnsafeBufferPointer { try WordCountList(of: $0) }
    #expect(list.count == 1 && list[0].word == "abc" && list[0].count == 2)
    let long = String(repeating: "x", count: 256)
    expect(try counts("\(long) \(long.dropLast()) abc"), [String(long.dropLast()): 1, "abc": 1])
  }

  @Test func wrongOptionsAreNamed() {
    for (length, ngram, argument) in [
      (0, 1, "min_word_length"), (256, 1, "min_word_length"), (3, 3, "max_ngram"),
    ] {
      #expect {
        _ = try counts("a", minWordLength: length, maxNGram: ngram)
      } throws: { error in
        (error as? BertQAError)?.argument == argument
      }
    }
  }

  @Test func memoryIsCounted() throws {
    let text = (0..<10_000).map { "word\($0)" }.joined(separator: " ")
    var options = WordCountOptions()
    options.call.maxBytes = 10_000 * 120
    #expect(try WordCountList.of(text, options: options).count == 10_000)
    options.call.maxBytes = 10_000 * 50
    #expect {
      _ = try WordCountList.of(text, options: options)
    } throws: { error in
      (error as? BertQAError)?.status == .tooLarge
    }
    // A word that comes again takes none.
    let same = String(repeating: "word ", count: 100_000)
    options.call.maxBytes = 20_000
    #expect(try WordCountList.of(same, options: options)[0].count == 100_000)
  }
}
