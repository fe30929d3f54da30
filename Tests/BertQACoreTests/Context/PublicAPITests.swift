import BertQACore
import Foundation
import Testing

/// A Swift host's view: only the public API.
@Suite struct PublicAPITests {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  static let model = root.appendingPathComponent("models/qa-minilm-l6").path
  static let tiny = root.appendingPathComponent("Tests/BertQACoreTests/Fixtures/tiny-bert").path

  /// The lines between the marks are the guide's first example; Tests/python/documents/test_readme.py compares them.
  @Test func guide() throws {
    let modelDirectory = Self.model
    // guide
    let context = try Context(modelDirectory: modelDirectory)
    let document = "The quick brown fox jumps over the lethargic dog."
    let result = try context.answer(question: "Who jumped over the dog?", document: document)
    if let answer = result.answers.first {
      print(document[answer.range(in: document)], answer.probability)
    }
    // guide ends
    #expect(result.answers.map { $0.text(in: document) } == ["The quick brown fox"])
    #expect(result.isImpossible == false && result.gap > result.noAnswerThreshold)
  }

  @Test func preparedDocumentsBytesAndOptions() throws {
    var contextOptions = ContextOptions()
    contextOptions.threads = 1
    contextOptions.precision = .f32
    let context = try Context(modelDirectory: Self.tiny, options: contextOptions)
    #expect(context.info.architecture == "BertForQuestionAnswering" && context.info.threads == 1)
    let text = "été 🦊 the river. North of the river: a king."
    let document: PreparedDocument = try context.prepare(text)
    var options = AnswerOptions()
    options.topK = 3
    let result = try context.answer(question: "what river", document: document, options: options)
    #expect(result.answers.count > 1)
    #expect(try context.answer(question: "what river", document: text, options: options) == result)
    for answer in result.answers {
      let utf16 = Array(text.utf16)[answer.utf16.start..<answer.utf16.end]
      #expect(String(decoding: utf16, as: UTF16.self) == answer.text(in: text))
      let scalars = Array(text.unicodeScalars)[answer.codePoints.start..<answer.codePoints.end]
      #expect(String(String.UnicodeScalarView(scalars)) == answer.text(in: text))
    }
    let batch = Array("what river".utf8).withUnsafeBufferPointer { question in
      Array(text.utf8).withUnsafeBufferPointer { bytes in
        Result {
          try context.answerBatch(
            [QuestionItem(question: question, document: .text(bytes))], options: options)
        }
      }
    }
    #expect(try batch.get() == [result])
  }

  @Test func tokensAndLogits() throws {
    let context = try Context(modelDirectory: Self.tiny)
    let tokens = try context.tokenize("The rivers")
    #expect(tokens.starts == [0, 4, 9] && tokens.ends == [3, 9, 10])
    let pieces = tokens.ids.map {
      context.vocabularyPiece(id: $0).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(pieces == ["the", "river", "##s"])
    #expect(try context.tokenize("[SEP]", parseSpecialTokens: true).ids == [3])
    let logits = try context.logits(ids: [2] + tokens.ids + [3], windowLengths: [5], secondSegments: [1])
    #expect(logits.start.count == 5 && logits.end.count == 5)
  }

  @Test func errorsAndCancellation() throws {
    #expect {
      _ = try Context(modelDirectory: "/no/such/model")
    } throws: {
      let error = $0 as? BertQAError
      return error?.status == .io && error?.message.contains("/no/such/model") == true
    }
    let context = try Context(modelDirectory: Self.tiny)
    var options = AnswerOptions()
    options.call.cancellation = Cancellation { true }
    #expect {
      _ = try context.answer(question: "who", document: "the river", options: options)
    } throws: {
      ($0 as? BertQAError)?.status == .cancelled
    }
  }
}
