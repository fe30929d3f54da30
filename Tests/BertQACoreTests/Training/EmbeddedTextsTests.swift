import Glibc
import Testing

@testable import BertQACore

@Suite struct EmbeddedTextsTests {
  private let texts = (0..<60).map { index in
    index % 3 == 0
      ? "the dog and a quick brown fox \(index)"
      : index % 3 == 1 ? "the king of france \(index)" : "north west"
  }

  private func options(_ model: String = "tiny-bert-embedder", folds: Int = 0) -> TrainOptions {
    var options = TrainOptions()
    options.features = .embedding
    options.embeddingModel = TinyModel.path(model)
    options.folds = folds
    return options
  }

  private func trainer(_ options: TrainOptions) throws -> ClassifierTrainer {
    let trainer = try ClassifierTrainer(options: options)
    for (index, text) in texts.enumerated() { try trainer.add(text, label: "label \(index % 3)") }
    return trainer
  }

  @Test(arguments: ["tiny-bert-embedder", "tiny-modernbert-embedder", "tiny-xlm-roberta-embedder"])
  func theModelIsWrittenWithItsEmbedder(model: String) throws {
    let directory = try TemporaryDirectory()
    let report = try trainer(options(model)).finish(modelDirectory: directory.file("model"))
    #expect(report.features == .embedding && report.hasConverged && report.loss < 1.1)
    let embedder = try Context(modelDirectory: TinyModel.path(model))
    #expect(report.vocabularySize == embedder.info.embeddingLength)
    let context = try Context(modelDirectory: directory.file("model"))
    #expect(context.info.task == .classify && context.info.architecture == "EmbeddingClassifier")
    #expect(context.info.labels == ["label 0", "label 1", "label 2"])
    // The vector is that of the other model, and the logits are linear in it.
    let head = try LinearHead(
      ModelDirectory(path: directory.file("model")).inFolder("classifier"),
      length: embedder.info.embeddingLength)
    var embedding = EmbedOptions()
    embedding.normalizes = true
    for text in texts[..<6] {
      let vector = try embedder.embed(text, options: embedding)
      let result = try context.classify(text)
      #expect(result.windowCount == 1 && !result.notEnoughText)
      for score in result.scores {
        let weights = head.weights[score.id * vector.count..<(score.id + 1) * vector.count]
        let logit = zip(weights, vector).reduce(Double(head.bias[score.id])) {
          $0 + Double($1.0) * Double($1.1)
        }
        #expect(abs(Double(score.logit) - logit) < 1e-5)
      }
    }
    var uncertain = ClassifyOptions()
    uncertain.minProbability = 1
    #expect(try context.classify("the dog", options: uncertain).isNone)
    #expect(throws: BertQAError.self) { try context.embed("the dog") }
  }

  @Test func equalInputsGiveEqualFilesWhateverTheThreads() throws {
    let directory = try TemporaryDirectory()
    for threads in [1, 3] {
      var options = options(folds: 3)
      options.threads = threads
      options.calibrates = true
      _ = try trainer(options).finish(modelDirectory: directory.file("\(threads)"))
    }
    for file in [
      "classifier/model.safetensors", "classifier/config.json", "config.json", "model.safetensors",
    ] {
      let files = try [1, 3].map {
        try ModelFile(path: directory.file("\($0)/\(file)")).withBytes { Array($0) }
      }
      #expect(files[0] == files[1], "\(file)")
    }
    let configuration = try ModelDirectory(path: directory.file("1/classifier")).object(in: "config.json")
    #expect(try configuration.reader("temperature")?.number("slope") == 0)
    #expect(try configuration.reader("training")?.string("algorithm") == "logistic_regression")
  }

  @Test func autoTakesTheMoreAccurate() throws {
    // The words tell everything; a model of random weights tells less.
    let corpus = TrainingCorpus(count: 200, labelCount: 3)
    var options = options(folds: 4)
    options.features = .auto
    options.algorithm = .naiveBayes
    let trainer = try ClassifierTrainer(options: options)
    for (text, label) in zip(corpus.texts, corpus.labels) { try trainer.add(text, label: label) }
    let (model, report) = try trainer.train(CallOptions(), CallMonitor(CallOptions()))
    #expect(model is WordCountModel && report.features == .words && report.accuracy > report.otherAccuracy)
    options.features = .embedding
    options.algorithm = .logisticRegression
    let other = try ClassifierTrainer(options: options)
    for (text, label) in zip(corpus.texts, corpus.labels) { try other.add(text, label: label) }
    let vectors = try other.train(CallOptions(), CallMonitor(CallOptions())).1
    #expect(report.otherAccuracy == vectors.accuracy && report.otherMacroF1 == vectors.macroF1)
    #expect(vectors.otherAccuracy.isNaN)
  }

  @Test func aRefusedTextChangesNothing() throws {
    let trainer = try trainer(options())
    var call = CallOptions()
    call.maxDocumentTokens = 3
    #expect {
      try trainer.add("one two three four five six", label: "label 0", call: call)
    } throws: { ($0 as? BertQAError)?.argument == "max_document_tokens" }
    try trainer.add("one", label: "label 0", call: call)
    call.cancellation = Cancellation { true }
    #expect(throws: BertQAError.self) { try trainer.train(call, CallMonitor(CallOptions())) }
    let report = try trainer.train(CallOptions(), CallMonitor(CallOptions())).1
    #expect(report.textCount == 61 && report.labelTexts == [21, 20, 20])
  }

  @Test func partsThatDoNotFitAreRefused() throws {
    let directory = try TemporaryDirectory()
    _ = try trainer(options()).finish(modelDirectory: directory.file("model"))
    func status(_ files: [String: String]) throws -> Status? {
      var bytes: [String: [UInt8]] = [:]
      for (name, path) in files { bytes[name] = try ModelFile(path: path).withBytes { Array($0) } }
      do throws(BertQAError) {
        _ = try Context(model: ModelDirectory(files: bytes))
        return nil
      } catch {
        return error.status
      }
    }
    func files(of model: String, head: String = directory.file("model/classifier")) -> [String: String] {
      var files: [String: String] = [:]
      for name in [
        "config.json", "vocab.txt", "tokenizer_config.json", "model.safetensors", "tokenizer.json",
      ]
      where access("\(model)/\(name)", R_OK) == 0 {
        files[name] = "\(model)/\(name)"
      }
      for name in ["config.json", "model.safetensors"] { files["classifier/\(name)"] = "\(head)/\(name)" }
      return files
    }
    #expect(try status(files(of: directory.file("model"))) == nil)
    #expect(try status(files(of: TinyModel.path("tiny-bert"))) == .invalidModel)
    var files = files(of: directory.file("model"))
    files["classifier/model.safetensors"] = files["model.safetensors"]
    #expect(try status(files) == .invalidModel)
    files["classifier/model.safetensors"] = nil
    #expect(try status(files) == .io)
  }

  @Test func optionsThatDoNotFitAreRefused() throws {
    func argument(_ change: (inout TrainOptions) -> Void) -> String? {
      var options = options()
      change(&options)
      do throws(BertQAError) {
        _ = try ClassifierTrainer(options: options)
        return nil
      } catch {
        return error.argument ?? "\(error.status)"
      }
    }
    #expect(argument { $0.features = .auto } == "features")
    #expect(argument { $0.algorithm = .naiveBayes } == "algorithm")
    #expect(argument { $0.embeddingModel = TinyModel.path("tiny-bert") } == "wrongModel")
    #expect(argument { $0.embeddingModel = "/no/such" } == "io")
  }
}
