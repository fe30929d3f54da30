import Foundation
import Testing

@testable import BertQACore

@Suite struct TextEmbedderTests {
  static let names = [
    "tiny-bert-embedder", "tiny-distilbert-embedder", "tiny-xlm-roberta-embedder", "tiny-electra-embedder",
    "tiny-albert-embedder", "tiny-mpnet-embedder", "tiny-deberta-embedder", "tiny-deberta-v1-embedder",
    "tiny-modernbert-embedder",
    "tiny-nomic-embedder", "tiny-gte-embedder", "tiny-jina-embedder", "tiny-mobilebert-embedder",
    "tiny-longformer-embedder", "tiny-jina-v3-embedder",
  ]

  private func embed(
    _ context: Context, _ texts: [(String, String?)], _ change: (inout EmbedOptions) -> Void = { _ in }
  ) throws -> [[Float]] {
    var options = EmbedOptions()
    change(&options)
    let values = try withPairs(texts) { try context.embed($0, options: options) }
    return rows(values, width: context.info.embeddingLength)
  }

  private func length(_ vector: [Float]) -> Float { vector.map { $0 * $0 }.reduce(0, +).squareRoot() }

  @Test(arguments: names, Context.instructionSets)
  func vectorsAreThoseOfSentenceTransformers(name: String, isa: InstructionSet) throws {
    let expected = try TinyTexts(name)
    let texts = expected.texts.map { ($0[0] ?? "", String?.none) }
    for threads in [1, 3] {
      let context = try Context(tiny: name, threads: threads, isa: isa)
      let vectors = try embed(context, texts) { $0.truncates = true }
      #expect(distance(vectors, expected.outputs) < 1e-4)
      for (text, vector) in pairs(texts, vectors) {
        #expect(try embed(context, [text]) { $0.truncates = true } == [vector])
      }
    }
  }

  private struct Tasks: Decodable { var tasks: [String: [[Float]]] }

  /// The name of a prompt chooses the adapters and the instruction of a task.
  @Test(arguments: Context.instructionSets)
  func adaptersAreThoseOfTheTask(isa: InstructionSet) throws {
    let name = "tiny-jina-v3-embedder"
    let expected = try TinyTexts(name)
    let data = try Data(contentsOf: URL(fileURLWithPath: TinyModel.path(name) + "/expected.json"))
    let tasks = try JSONDecoder().decode(Tasks.self, from: data).tasks
    #expect(tasks.count == 5)
    let texts = expected.texts.map { ($0[0] ?? "", String?.none) }
    let context = try Context(tiny: name, threads: 2, isa: isa)
    let directory = try TemporaryDirectory()
    try Quantizer.quantize(ModelDirectory(path: TinyModel.path(name)), to: directory.file("int8"))
    let stored = try Context(modelDirectory: directory.file("int8"))
    for _ in 0..<2 {
      for (task, outputs) in tasks {
        let vectors = try embed(context, texts) {
          $0.truncates = true
          $0.promptName = task
        }
        #expect(distance(vectors, outputs) < 1e-4)
        #expect(distance(vectors, expected.outputs) > 0.1)
        let rounded = try embed(stored, texts) {
          $0.truncates = true
          $0.promptName = task
        }
        let error = distance(rounded, outputs)
        #expect(error > 1e-4 && error < 0.25)
      }
      #expect(distance(try embed(context, texts) { $0.truncates = true }, expected.outputs) < 1e-4)
    }
    // With a text of the caller's, a name still chooses the task.
    func found(_ text: String, behind prompt: String?) throws -> [[Float]] {
      try embed(context, [(text, nil)]) { ($0.promptName, $0.prompt) = ("retrieval.query", prompt) }
    }
    #expect(try found("the river", behind: "find ") == found("find the river", behind: ""))
    #expect(try found("the river", behind: nil) == found("find the river: the river", behind: ""))
    #expect(try found("the river", behind: "") != embed(context, [("the river", nil)]))
    // Without a name it chooses none.
    let own = try embed(context, [("the river", nil)]) { $0.prompt = "the " }
    #expect(try own == embed(context, [("the the river", nil)]))
    #expect(
      failure { _ = try embed(context, texts) { $0.promptName = "other" } }?.message.contains("separation")
        == true)
  }

  @Test func poolingAndScaling() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    #expect(context.info.task == .embed && context.info.embeddingLength == 16)
    let text = [("the quick brown fox", String?.none)]
    let model = try embed(context, text)[0]
    let plain = try embed(context, text) { $0.normalizes = false }[0]
    let cls = try embed(context, text) { $0.pooling = .cls }[0]
    #expect(abs(length(model) - 1) < 1e-6 && abs(length(cls) - 1) < 1e-6 && abs(length(plain) - 1) > 1e-3)
    #expect(try embed(context, text) { $0.pooling = .mean }[0] == model)
    #expect(distance([plain.map { $0 / length(plain) }], [model]) < 1e-6)
    #expect(cls != model)
    let distil = try Context(tiny: "tiny-distilbert-embedder")
    #expect(try embed(distil, text) { $0.pooling = .cls } == embed(distil, text))
    #expect(try embed(distil, text) { $0.pooling = .mean } != embed(distil, text))
    #expect(abs(length(try embed(distil, text) { $0.normalizes = true }[0]) - 1) < 1e-6)
  }

  /// The mean covers all tokens, for every start within a block and every length.
  @Test func meansAreThoseOfTheTokens() throws {
    let tiny = try LoadedModel(ModelDirectory(path: TinyModel.path("tiny-bert-embedder")))
    let kernels = try #require(Kernels())
    let encoder = try Encoder(model: tiny, precision: .f32, kernels: kernels, threadLimit: 2)
    let model = try TinyModel("tiny-bert")
    for length in 1...40 {
      var batch = model.batch(lengths: [length, 3, length, 1, length])
      for index in 1..<batch.windows.count {
        for token in 0..<length where index % 2 == 0 {
          batch.ids[batch.windows[index].firstToken + token] = batch.ids[token]
        }
      }
      let vectors = rows(try encoder.vectors(.mean, of: batch), width: 16)
      #expect(vectors[0] == vectors[2] && vectors[0] == vectors[4])
      #expect(vectors[0] != vectors[1])
      let first = rows(try encoder.vectors(.first, of: batch), width: 16)
      #expect(first[0] == first[4])
      #expect((first[0] == vectors[0]) == (length == 1))
    }
  }

  @Test func longTextsAreAveragedByTheirTokens() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    let words = (0..<50).map { ["the", "dog", "river", "king"][$0 * $0 % 4] }
    let text = words.joined(separator: " ")
    for pooling in [EmbedOptions.Pooling.mean, .cls] {
      let whole = try embed(context, [(text, nil)]) {
        $0.pooling = pooling
        $0.normalizes = false
        $0.maxSequenceLength = 22
      }
      let parts = stride(from: 0, to: 50, by: 20).map {
        (words[$0..<min($0 + 20, 50)].joined(separator: " "), String?.none)
      }
      let vectors = try embed(context, parts) {
        $0.pooling = pooling
        $0.normalizes = false
      }
      let weights: [Float] = pooling == .mean ? [22, 22, 12] : [1, 1, 1]
      let mean = (0..<16).map { feature in
        zip(vectors, weights).map { $0[feature] * $1 }.reduce(0, +) / weights.reduce(0, +)
      }
      #expect(distance(whole, [mean]) < 1e-6)
    }
    // This model's files say that it reads 32 tokens at once.
    #expect(try embed(context, [(text, nil)]) != embed(context, [(text, nil)]) { $0.maxSequenceLength = 64 })
    #expect(try embed(context, [(text, nil)]) == embed(context, [(text, nil)]) { $0.maxSequenceLength = 32 })
  }

  @Test func pairsAndNothing() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    let vectors = try embed(context, [("the dog", nil), ("the dog", ""), ("the dog", "a river"), ("", nil)])
    #expect(Set(vectors).count == 4 && vectors.allSatisfy { $0.allSatisfy(\.isFinite) })
    #expect(try embed(context, []).isEmpty)
    #expect(try context.embed("the dog") == vectors[0])
  }

  @Test func badOptionsAndWrongModels() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    func refusal(_ change: (inout EmbedOptions) -> Void) -> Status? {
      failure { _ = try embed(context, [("a", nil)], change) }?.status
    }
    #expect(refusal { $0.maxSequenceLength = 7 } == .invalidArgument)
    #expect(refusal { $0.maxSequenceLength = -1 } == .invalidArgument)
    #expect(refusal { $0.maxSequenceLength = 1 << 40 } == nil)
    #expect(refusal { $0.call.cancellation = Cancellation { true } } == .cancelled)
    let room = [Float](repeating: 0, count: 15)
    let error = room.withUnsafeBufferPointer { room in
      failure { try context.embed([], into: UnsafeMutableBufferPointer(mutating: room)) }
    }
    #expect(error?.status == .invalidArgument)
    for name in ["tiny-bert", "tiny-bert-classifier"] {
      let error = failure { _ = try Context(tiny: name).embed("a") }
      #expect(error?.status == .wrongModel && error?.message.contains("…Model") == true)
    }
    #expect(failure { _ = try context.classify("a") }?.status == .wrongModel)
    #expect(failure { _ = try context.answer(question: "a", document: "b") }?.status == .wrongModel)
    #expect(try context.tokenize("the fox").ids.count == 2)
  }

  @Test(arguments: [Precision.int8] + (Kernels()?.table.linear_bf16 == nil ? [] : [.bf16]))
  func otherPrecisionsComeClose(precision: Precision) throws {
    let texts = [("who was the king of france", String?.none), ("a dog", nil)]
    let exact = try embed(Context(tiny: "tiny-bert-embedder"), texts)
    let rough = try embed(Context(tiny: "tiny-bert-embedder", precision: precision), texts)
    #expect(rough != exact)
    for (a, b) in pairs(exact, rough) { #expect(pairs(a, b).map { $0 * $1 }.reduce(0, +) > 0.99) }
  }
}
