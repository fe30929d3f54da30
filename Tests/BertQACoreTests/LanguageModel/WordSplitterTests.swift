import Testing

@testable import BertQACore

@Suite struct WordSplitterTests {
  private func split(_ text: [UInt8], _ context: Context) throws -> (ids: [Int32], unknownCount: Int) {
    guard case .languageModel(let model) = context.engine else {
      throw BertQAError(.internal, "no language model")
    }
    let words = try text.withUnsafeBufferPointer {
      try WordSplitter.split($0, model.words, CallMonitor(CallOptions()))
    }
    return (words.ids, words.unknownCount)
  }

  /// A text's words as the vocabulary spells them.
  private func split(_ text: String, _ context: Context) throws -> [String] {
    try split(Array(text.utf8), context).ids.map(context.word)
  }

  @Test func wordsAreThoseOfTheTrainingText() throws {
    let context = try TinySequence.shakespeare()
    let cases: [(String, [String])] = [
      ("", []), (" \n\t\u{A0}\u{3000}", []),
      ("O Romeo, Romeo", ["O", "Romeo", ",", "Romeo"]),
      ("Good night,good night.", ["Good", "night", ",", "good", "night", "."]),
      ("A pair of star-cross’d lovers", ["A", "pair", "of", "star-cross'd", "lovers"]),
      ("their parents’ strife.", ["their", "parents'", "strife", "."]),
      ("I'll go—I’ll go!", ["I'll", "go", "—", "I'll", "go", "!"]),
      ("’Tis all one", ["Tis", "all", "one"]),
      ("and said ‘Ay’;", ["and", "said", "Ay'", ";"]),
      ("o’ the", ["o'", "the"]),
      ("\"Good night\" “Good night”", ["Good", "night", "Good", "night"]),
      // A quotation's end behind a word that the vocabulary knows without it only.
      ("‘O Romeo’", ["O", "Romeo"]),
      ("a well-a-day", ["a", "well-a-day"]),
      ("zyzzyva O", ["<unk>", "O"]),
      ("O & O", ["O", "<unk>", "O"]), ("O [O]", ["O", "<unk>", "O", "<unk>"]),
      ("O \u{FFFD} O", ["O", "<unk>", "O"]), ("love - O", ["love", "<unk>", "O"]),
      ("O\u{0}\u{1}\u{AD} \u{FEFF}Romeo", ["O", "Romeo"]),
      // Text never becomes a special symbol.
      ("O </s>", ["O", "<unk>", "<unk>", "<unk>", "<unk>"]),
    ]
    for (text, words) in cases { #expect(try split(text, context) == words, "\(text)") }
  }

  @Test func quotationMarksAreWordsWhereTheVocabularyHasThem() throws {
    let directory = try TemporaryDirectory()
    let checkpoint = TinyRecurrent()
    var words = checkpoint.vocabulary
    words.replaceSubrange(2..<5, with: ["\"", "'", "“"])
    try checkpoint.write(to: directory, vocabulary: words)
    let context = try Context(modelDirectory: directory.path)
    #expect(try split("\"a\" 'b “", context) == ["\"", "a", "\"", "'", "b", "“"])
  }

  @Test func charactersAreCodePoints() throws {
    let context = try TinySequence.context("tiny-lstm-characters")
    let characters = ["é", "🦊", " ", "n", "\n", "\t", "\\", "’", "'"]
    #expect(try split("é🦊 n\n\t\\’'", context) == characters)
    #expect(try split("e\u{301}", context) == ["e", "<unk>"])
  }

  @Test func binaryBytesAreText() throws {
    let context = try TinySequence.shakespeare()
    var random = TestRandom(3)
    for _ in 0..<300 {
      let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let split = try split(bytes, context)
      #expect(split.ids.allSatisfy { $0 >= 0 && $0 < 4152 })
      #expect(split.unknownCount <= split.ids.count && split.ids.count <= bytes.count)
    }
  }
}
