import Glibc
import Testing

@testable import BertQACore

@Suite struct TrainingTests {
  @Test(arguments: [TrainingAlgorithm.logisticRegression, .naiveBayes])
  func writtenAndReadIsTheSame(algorithm: TrainingAlgorithm) throws {
    let directory = try TemporaryDirectory()
    let corpus = TrainingCorpus(count: 150, labelCount: 3)
    var options = TrainOptions.quick
    options.algorithm = algorithm
    options.usesTFIDF = true
    options.maxNGram = 2
    options.minDistinctWords = 2
    let trainer = try corpus.trainer(options)
    let (trained, _) = try trainer.train()
    _ = try trainer.finish(modelDirectory: directory.file("model"))
    let loaded = try WordCountModel.load(ModelDirectory(path: directory.file("model")))
    #expect(loaded.settings == trained.settings && loaded.labels == trained.labels)
    #expect(loaded.featureCount == trained.featureCount)
    #expect(loaded.weights.elements.elementsEqual(trained.weights.elements))
    #expect(loaded.idf.elements.elementsEqual(trained.idf.elements))
    #expect(loaded.bias == trained.bias)
    for feature in 0..<loaded.featureCount {
      #expect(loaded.table.word(feature).elementsEqual(trained.table.word(feature)))
    }
  }

  @Test func equalInputsGiveEqualFilesWhateverTheThreads() throws {
    let directory = try TemporaryDirectory()
    let corpus = TrainingCorpus(count: 600, labelCount: 3, words: 3000)
    var reports: [String] = []
    for (index, threads) in [1, 2, 7].enumerated() {
      var options = TrainOptions()
      options.threads = threads
      options.seed = 4
      options.folds = 2
      options.maxNGram = 2
      let report = try corpus.trainer(options).finish(modelDirectory: directory.file("\(index)"))
      reports.append("\(report)")
      for name in ["config.json", "vocab.txt", "model.safetensors"] {
        #expect(try directory.bytes("\(index)/\(name)") == directory.bytes("0/\(name)"))
      }
    }
    #expect(Set(reports).count == 1)
  }

  @Test func theSeedDividesTheFolds() throws {
    let corpus = TrainingCorpus(count: 200, labelCount: 3, words: 2000)
    func confusion(_ seed: UInt64) throws -> [[Int]] {
      var options = TrainOptions()
      options.seed = seed
      return try corpus.trainer(options).train().1.confusion
    }
    #expect(try confusion(1) == confusion(1))
    #expect(try confusion(1) != confusion(2))
    let folds = Folds(
      count: 3, targets: (0..<100).map { Int32($0 % 10 == 0 ? 1 : 0) }, labelCount: 2, seed: 9)
    #expect((0..<3).flatMap { folds.heldOut($0) }.sorted() == Array(0..<100))
    for fold in 0..<3 {
      #expect((33...34).contains(folds.heldOut(fold).count))
      #expect((3...4).contains(folds.heldOut(fold).count { $0 % 10 == 0 }))
      #expect((folds.heldOut(fold) + folds.kept(fold)).sorted() == Array(0..<100))
    }
  }

  @Test func reportsWhatTheConfusionSays() throws {
    let corpus = TrainingCorpus(count: 300, labelCount: 3)
    let report = try corpus.trainer(TrainOptions()).train().1
    #expect(report.textCount == 300 && report.labels == ["label 0", "label 1", "label 2"])
    #expect(report.labelTexts == report.labels.map { label in corpus.labels.count { $0 == label } })
    #expect(report.confusion.map { $0.reduce(0, +) } == report.labelTexts)
    let right = report.confusion.indices.reduce(0) { $0 + report.confusion[$1][$1] }
    #expect(abs(report.accuracy - Double(right) / 300) < 1e-12)
    #expect(report.accuracy > 0.8 && report.macroF1 > 0.8 && report.calibrationError < 0.3)
    #expect(report.hasConverged && report.iterations > 3 && report.loss > 0)

    let none = try corpus.trainer(.quick).train().1
    #expect(
      none.accuracy.isNaN && none.macroF1.isNaN && none.calibrationError.isNaN && none.confusion.isEmpty)
  }

  @Test func measures() {
    var metrics = PredictionMetrics(labelCount: 2)
    for (target, predicted, probability) in [(0, 0, 0.95), (0, 0, 0.95), (0, 1, 0.65), (1, 1, 1.0)] {
      metrics.add(target: target, predicted: predicted, probability: probability)
    }
    #expect(metrics.accuracy == 0.75)
    #expect(abs(metrics.macroF1 - (0.8 + 2.0 / 3) / 2) < 1e-12)
    // Bins of width 1/15: 0.65 is alone, 0.95 and 1 are together.
    #expect(abs(metrics.calibrationError - (0.65 + 0.1) / 4) < 1e-12)
  }

  @Test func labelsAreSortedByTheirBytesAndNotMerged() throws {
    let trainer = try WordCountTrainer(options: .quick)
    let labels = ["é", "e\u{301}", "Z", "a", "z\n\"quoted\"", "😀"]
    for label in labels { try trainer.add("alpha beta \(label.utf8.count)xyz", label: label) }
    let (model, report) = try trainer.train()
    #expect(
      report.labels.map { Array($0.utf8) }
        == labels.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    let directory = try TemporaryDirectory()
    _ = try trainer.finish(modelDirectory: directory.file("model"))
    let loaded = try WordCountModel.load(ModelDirectory(path: directory.file("model")))
    #expect(loaded.labels.map { Array($0.utf8) } == model.labels.map { Array($0.utf8) })
  }

  @Test func selectsTheVocabulary() throws {
    func vocabulary(_ change: (inout TrainOptions) -> Void) throws -> [String] {
      var options = TrainOptions.quick
      change(&options)
      let trainer = try WordCountTrainer(options: options)
      for (text, label) in [
        ("the cat, the dog", "x"), ("the dog. The bird", "y"), ("the cat and a Dog dog dog", "x"), ("", "y"),
      ] {
        try trainer.add(text, label: label)
      }
      let model = try trainer.train().0
      return (0..<model.featureCount).map { String(decoding: model.table.word($0), as: UTF8.self) }
    }
    #expect(try vocabulary { _ in } == ["and", "bird", "cat", "dog", "the"])
    #expect(try vocabulary { $0.minDocumentCount = 2 } == ["cat", "dog", "the"])
    #expect(try vocabulary { $0.maxDocumentFraction = 0.5 } == ["and", "bird", "cat"])
    #expect(try vocabulary { $0.maxVocabulary = 2 } == ["dog", "the"])
    #expect(try vocabulary { $0.maxVocabulary = 4 } == ["and", "cat", "dog", "the"])
    #expect(try vocabulary { $0.minWordLength = 4 } == ["bird"])
    #expect(try vocabulary { $0.minWordLength = 1 } == ["a", "and", "bird", "cat", "dog", "the"])
    #expect(
      try vocabulary {
        $0.maxNGram = 2
        $0.minDocumentCount = 2
      } == ["cat", "dog", "the", "the cat", "the dog"])
  }

  @Test func forgetsRareWordsBeyondTheLimit() throws {
    var options = TrainOptions.quick
    options.maxNGram = 1
    var texts = TrainingTexts(options, limit: 100)
    func add(_ text: String) throws {
      try withBytes(of: text) { bytes throws(BertQAError) in try texts.add(bytes) }
    }
    for index in 0..<1000 { try add("common shared word\(index)") }
    #expect(texts.table.count <= 100 && texts.count == 1000)
    let words = (0..<texts.table.count).map { String(decoding: texts.table.word($0), as: UTF8.self) }
    #expect(words.contains("common") && words.contains("shared"))
    for (id, word) in words.enumerated() where word == "common" { #expect(texts.documentCounts[id] == 1000) }
    // Every row still has its frequent words, and what it has is counted.
    var total = 0
    for row in 0..<1000 {
      let ids = (texts.rowStarts[row]..<texts.rowStarts[row + 1]).map { words[Int(texts.wordIDs[$0])] }
      #expect(ids.contains("common") && ids.contains("shared") && ids.count <= 3)
      total += ids.count
    }
    #expect(total == texts.documentCounts.elements.reduce(0) { $0 + Int($1) })
  }

  @Test func refusesBadInput() throws {
    let directory = try TemporaryDirectory()
    func message(_ body: () throws -> Void) -> String {
      do {
        try body()
        return ""
      } catch {
        return (error as? BertQAError)?.status == .invalidArgument ? "\(error)" : "another status: \(error)"
      }
    }
    func trained(_ texts: [(String, String)], _ change: (inout TrainOptions) -> Void = { _ in }) -> String {
      message {
        var options = TrainOptions.quick
        change(&options)
        let trainer = try WordCountTrainer(options: options)
        for (text, label) in texts { try trainer.add(text, label: label) }
        _ = try trainer.finish(modelDirectory: directory.file("model"))
      }
    }
    #expect(trained([]).contains("at least two labels"))
    #expect(
      trained([("one two three", "a"), ("one", "a")]).contains("at least two labels, but 2 text(s) have 1"))
    #expect(trained([("one two three", "")]).contains("label of text 0 is empty"))
    #expect(trained([("one two three", "a\u{0}b")]).contains("label of text 0 is empty or has a NUL"))
    #expect(trained([("a", "a"), ("", "b")]).contains("no word is left of 2 texts"))
    #expect(
      trained([("one", "a"), ("two", "b")]) { $0.folds = 3 }.contains("folds is 3, but there are only 2"))
    #expect(try directory.names.isEmpty)
    for change: (inout TrainOptions) -> Void in [
      { $0.minWordLength = 0 }, { $0.minDistinctWords = 0 }, { $0.maxNGram = 3 }, { $0.minDocumentCount = 0 },
      { $0.maxDocumentFraction = 0 }, { $0.maxDocumentFraction = 1.1 }, { $0.maxDocumentFraction = .nan },
      { $0.maxVocabulary = 0 }, { $0.c = 0 }, { $0.c = .infinity }, { $0.alpha = -1 },
      { $0.tolerance = .nan },
      { $0.folds = 1 }, { $0.folds = -1 }, { $0.threads = -1 }, { $0.maxIterations = 0 },
    ] {
      #expect(trained([], change).contains("but must be"))
    }
    try directory.write("x", to: "file")
    #expect(trained([("one two", "a"), ("three", "b")]) { _ in }.isEmpty)
    #expect(trained([("one two", "a"), ("three", "b")]) { _ in }.contains("not empty"))
  }

  @Test func canBeStoppedByItsProgressHook() throws {
    let corpus = TrainingCorpus(count: 300, labelCount: 3)
    let stages = Stages()
    var options = TrainOptions()
    options.call.progress = { stage, fraction in stages.add(stage, fraction) }
    _ = try corpus.trainer(options).train()
    #expect(stages.names == ["cross-validation", "training"])
    #expect(stages.areInOrder)
    for stop in ["cross-validation", "training"] {
      options.call.progress = { stage, _ in stage == stop }
      let directory = try TemporaryDirectory()
      #expect {
        try corpus.trainer(options).finish(modelDirectory: directory.file("model"))
      } throws: {
        ($0 as? BertQAError)?.status == .cancelled
      }
      #expect(try directory.names.isEmpty)
    }
  }

  private final class Stages: @unchecked Sendable {  // the hook runs on the test's thread
    var names: [String] = []
    var areInOrder = true
    private var last = 0.0

    func add(_ stage: String, _ fraction: Double) -> Bool {
      if names.last != stage {
        names.append(stage)
        last = 0
      }
      areInOrder = areInOrder && (last...1).contains(fraction)
      last = fraction
      return false
    }
  }

  @Test func labelsThatAFoldLacksAreNoProblem() throws {
    let trainer = try WordCountTrainer()
    for index in 0..<20 { try trainer.add("alpha beta gamma\(index)", label: "often") }
    try trainer.add("delta epsilon zeta", label: "once")
    let report = try trainer.train().1
    #expect(report.confusion == [[20, 0], [1, 0]] && report.labels == ["often", "once"])
    #expect(report.accuracy == 20.0 / 21)
  }
}
