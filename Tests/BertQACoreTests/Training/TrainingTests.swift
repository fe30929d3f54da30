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
    let (trained, _) = try trainer.trained()
    _ = try trainer.finish(modelDirectory: directory.file("model"))
    let loaded = try load(directory)
    #expect(loaded.settings == trained.settings && loaded.labels == trained.labels)
    #expect(loaded.featureCount == trained.featureCount)
    #expect(loaded.weights.elements.elementsEqual(trained.weights.elements))
    #expect(loaded.idf.elements.elementsEqual(trained.idf.elements))
    #expect(loaded.bias == trained.bias)
    for feature in 0..<loaded.featureCount {
      #expect(loaded.table.term(feature).elementsEqual(trained.table.term(feature)))
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
    func confusion(_ seed: UInt64) throws -> [ConfusionEntry] {
      var options = TrainOptions()
      options.seed = seed
      return try corpus.trainer(options).trained().1.confusion
    }
    #expect(try confusion(1) == confusion(1))
    #expect(try confusion(1) != confusion(2))
    let folds = try Folds(
      count: 3, targets: (0..<100).map { Int32($0 % 10 == 0 ? 1 : 0) }, labelCount: 2, seed: 9)
    #expect(try (0..<3).flatMap { try folds.heldOut($0) }.sorted() == Array(0..<100))
    for fold in 0..<3 {
      #expect(try (33...34).contains(folds.heldOut(fold).count))
      #expect(try (3...4).contains(folds.heldOut(fold).count { $0 % 10 == 0 }))
      #expect(try (folds.heldOut(fold) + folds.kept(fold)).sorted() == Array(0..<100))
    }
  }

  @Test func reportsWhatTheConfusionSays() throws {
    let corpus = TrainingCorpus(count: 300, labelCount: 3)
    let report = try corpus.trainer(TrainOptions()).trained().1
    #expect(report.textCount == 300 && report.labels == ["label 0", "label 1", "label 2"])
    #expect(report.labelTexts == report.labels.map { label in corpus.labels.count { $0 == label } })
    for label in 0..<3 {
      let actual = report.confusion.filter { $0.trueLabel == label }.reduce(0) { $0 + $1.count }
      let predicted = report.confusion.filter { $0.predictedLabel == label }.reduce(0) { $0 + $1.count }
      let right = report.confusion.first { $0.trueLabel == label && $0.predictedLabel == label }?.count ?? 0
      #expect(actual == report.labelTexts[label])
      #expect(report.recall[label] == Double(right) / Double(actual))
      #expect(report.precision[label] == Double(right) / Double(predicted))
    }
    #expect(report.confusion.allSatisfy { $0.count > 0 })
    let right = report.confusion.reduce(0) { $0 + ($1.trueLabel == $1.predictedLabel ? $1.count : 0) }
    #expect(abs(report.accuracy - Double(right) / 300) < 1e-12)
    #expect(report.accuracy > 0.8 && report.macroF1 > 0.8 && report.calibrationError < 0.3)
    #expect(report.hasConverged && report.iterations > 3 && report.loss > 0)

    let none = try corpus.trainer(.quick).trained().1
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
    // A text of which nothing is said is not right, but no label was predicted wrongly.
    metrics.add(target: 1, predicted: nil, probability: 0)
    #expect(metrics.accuracy == 0.6 && metrics.precision == [1, 0.5] && metrics.recall == [2.0 / 3, 0.5])
    #expect(metrics.f1 == [0.8, 0.5] && metrics.confusion.reduce(0) { $0 + $1.count } == 4)
    #expect(abs(metrics.calibrationError - (0.65 + 0.1) / 4) < 1e-12)
  }

  @Test func labelsAreSortedByTheirBytesAndNotMerged() throws {
    let trainer = try ClassifierTrainer(options: .quick)
    let labels = ["é", "e\u{301}", "Z", "a", "z\n\"quoted\"", "😀"]
    for label in labels { try trainer.add("alpha beta \(label.utf8.count)xyz", label: label) }
    let (model, report) = try trainer.trained()
    #expect(
      report.labels.map { Array($0.utf8) }
        == labels.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    let directory = try TemporaryDirectory()
    _ = try trainer.finish(modelDirectory: directory.file("model"))
    let loaded = try load(directory)
    #expect(loaded.labels.map { Array($0.utf8) } == model.labels.map { Array($0.utf8) })
  }

  @Test func selectsTheVocabulary() throws {
    func vocabulary(_ change: (inout TrainOptions) -> Void) throws -> [String] {
      var options = TrainOptions.quick
      change(&options)
      let trainer = try ClassifierTrainer(options: options)
      for (text, label) in [
        ("the cat, the dog", "x"), ("the dog. The bird", "y"), ("the cat and a Dog dog dog", "x"), ("", "y"),
      ] {
        try trainer.add(text, label: label)
      }
      let model = try trainer.trained().0
      return (0..<model.featureCount).map { String(decoding: model.table.term($0), as: UTF8.self) }
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
      try withBytes(of: text) { bytes throws(BertQAError) in try texts.add(bytes, CallMonitor(CallOptions()))
      }
    }
    for index in 0..<1000 { try add("common shared word\(index)") }
    #expect(texts.table.count <= 100 && texts.count == 1000)
    let words = (0..<texts.table.count).map { String(decoding: texts.table.term($0), as: UTF8.self) }
    #expect(words.contains("common") && words.contains("shared"))
    for (id, word) in words.enumerated() where word == "common" { #expect(texts.documentCounts[id] == 1000) }
    // Every row still has its frequent words, and what it has is counted.
    var total = 0
    for row in 0..<1000 {
      let ids = (texts.rowStarts[row]..<texts.rowStarts[row + 1]).map { words[Int(texts.termIDs[$0])] }
      #expect(ids.contains("common") && ids.contains("shared") && ids.count <= 3)
      total += ids.count
    }
    #expect(total == texts.documentCounts.elements.reduce(0) { $0 + Int($1) })
  }

  /// Whichever allocation the limit refuses, in counting a text or in forgetting, texts and terms stay as they were.
  @Test(arguments: [50, 1 << 20])
  func aTextThatFailsChangesNothing(limit: Int) throws {
    var refused = 0
    for maxBytes in stride(from: 0, to: 60_000, by: 97) {
      var texts = TrainingTexts(.quick, limit: limit)
      func add(_ words: Range<Int>, _ maxBytes: Int) throws {
        var options = CallOptions()
        options.maxBytes = maxBytes
        try withBytes(of: words.map { "word\($0)" }.joined(separator: " ")) { bytes throws(BertQAError) in
          try texts.add(bytes, CallMonitor(options))
        }
      }
      try add(0..<30, 0)
      do {
        try add(20..<120, max(1, maxBytes))
      } catch {
        refused += 1
        #expect(texts.count == 1 && texts.rowStarts.count == 2)
        #expect(texts.documentCounts.elements.reduce(0, +) == 30)
        #expect(texts.documentCounts.count == texts.table.count)
        try add(10..<300, 0)
      }
      #expect(texts.count == 2 && texts.rowStarts.count == 3)
      #expect(texts.documentCounts.count == texts.table.count)
      #expect(texts.termIDs.elements.allSatisfy { Int($0) < texts.table.count })
      #expect(texts.documentCounts.elements.reduce(0) { $0 + Int($1) } == texts.termIDs.count)
      for id in 0..<texts.table.count {
        #expect(texts.documentCounts[id] == texts.termIDs.elements.count { Int($0) == id })
      }
    }
    #expect(refused > 20)
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
        let trainer = try ClassifierTrainer(options: options)
        for (text, label) in texts { try trainer.add(text, label: label) }
        _ = try trainer.finish(modelDirectory: directory.file("model"))
      }
    }
    #expect(trained([]).contains("at least two labels"))
    #expect(
      trained([("one two three", "a"), ("one", "a")]).contains("at least two labels, but 2 text(s) have 1"))
    for label in ["", " ", "\t\u{A0}\n", "a\u{0}b", "\u{0}"] {
      #expect(trained([("one two three", label)]).contains("label is blank, has a NUL"))
    }
    let invalid: [UInt8] = [0x61, 0xFF]
    let refusal = invalid.withUnsafeBufferPointer { label in
      message { try ClassifierTrainer(options: .quick).add(label, label: label) }
    }
    #expect(refusal.contains("not valid UTF-8"))
    #expect(trained([("a", "a"), ("", "b")]).contains("no words are left in 2 texts"))
    #expect(
      trained([("one", "a"), ("two", "b")]) { $0.folds = 3 }.contains("folds is 3, but there are only 2"))
    #expect(try directory.names.isEmpty)
    for change: (inout TrainOptions) -> Void in [
      { $0.minWordLength = 0 }, { $0.minDistinctWords = 0 }, { $0.maxNGram = 3 }, { $0.minDocumentCount = 0 },
      { $0.maxDocumentFraction = 0 }, { $0.maxDocumentFraction = 1.1 }, { $0.maxDocumentFraction = .nan },
      { $0.maxVocabulary = 0 }, { $0.c = 0 }, { $0.c = .infinity }, { $0.alpha = -1 },
      { $0.c = .leastNonzeroMagnitude }, { $0.c = 1e10 }, { $0.alpha = 1e308 }, { $0.alpha = .nan },
      { $0.alpha = 0 },
      { $0.tolerance = .nan }, { $0.tolerance = 0 }, { $0.tolerance = .infinity }, { $0.folds = 1001 },
      { $0.folds = 1 }, { $0.folds = -1 }, { $0.threads = -1 }, { $0.maxIterations = 0 },
    ] {
      #expect(trained([], change).contains("but must be"))
    }
    try directory.write("x", to: "file")
    #expect(trained([("one two", "a"), ("three", "b")]) { _ in }.isEmpty)
    #expect(trained([("one two", "a"), ("three", "b")]) { _ in }.contains("not empty"))
  }

  @Test func reportsItsProgressAndCanBeStopped() throws {
    let corpus = TrainingCorpus(count: 300, labelCount: 3)
    let stages = Stages()
    var options = TrainOptions()
    // The hook is polled every 10 ms, which is longer than a stage may take here.
    options.progress = { stage, fraction in if stages.add("\(stage)", fraction) { usleep(11_000) } }
    _ = try corpus.trainer(options).trained()
    #expect(stages.names == ["cross-validation", "training"])
    #expect(stages.areInOrder)
    for stop in ["cross-validation", "training"] {
      stages.names = []
      options.call.cancellation = Cancellation { stages.names.last == stop }
      let directory = try TemporaryDirectory()
      #expect {
        try corpus.trainer(options).finish(modelDirectory: directory.file("model"))
      } throws: {
        ($0 as? BertQAError)?.status == .cancelled
      }
      #expect(try directory.names.isEmpty)
    }
  }

  @Test func extremeOptionsGiveFiniteModels() throws {
    let corpus = TrainingCorpus(count: 60, labelCount: 3)
    for change: (inout TrainOptions) -> Void in [
      { $0.c = 1e-9 }, { $0.c = 1e9 }, { $0.tolerance = 1e308 }, { $0.tolerance = 1e-300 },
      { ($0.algorithm, $0.alpha) = (.naiveBayes, 1e6) },
      { ($0.algorithm, $0.alpha) = (.naiveBayes, .leastNonzeroMagnitude) },
      { $0.folds = 60 },
    ] {
      let directory = try TemporaryDirectory()
      var options = TrainOptions()
      options.folds = 2
      change(&options)
      let report = try corpus.trainer(options).finish(modelDirectory: directory.file("model"))
      #expect(report.loss.isFinite && report.accuracy.isFinite && report.calibrationError.isFinite)
      #expect(try load(directory).labels == report.labels)
    }
  }

  /// Memory is linear in the labels: their square would be 2 GiB here.
  @Test func manyLabelsTakeLittleMemory() throws {
    let count = 16_000
    var metrics = PredictionMetrics(labelCount: count)
    for label in 0..<count { metrics.add(target: label, predicted: label - label % 2, probability: 0.5) }
    #expect(metrics.accuracy == 0.5)
    #expect(metrics.confusion.count == count)
    #expect(metrics.confusion[1] == ConfusionEntry(trueLabel: 1, predictedLabel: 0, count: 1))
    #expect(metrics.precision[0] == 0.5 && metrics.recall[0] == 1)
    #expect(metrics.precision[1] == 0 && metrics.recall[1] == 0)
  }

  @Test func limitsAreThoseOfTheCall() throws {
    let corpus = TrainingCorpus(count: 60, labelCount: 2)
    let trainer = try corpus.trainer(.quick)
    let directory = try TemporaryDirectory()
    var call = CallOptions()
    call.deadline = 1
    func status(_ call: CallOptions) -> Status? {
      failure { _ = try trainer.finish(modelDirectory: directory.file("model"), call: call) }?.status
    }
    #expect(status(call) == .deadlineExceeded)
    #expect(failure { try trainer.add("one two", label: "x", call: call) }?.status == .deadlineExceeded)
    #expect(trainer.textCount == 60 && trainer.labelCount == 2)
    call = CallOptions()
    call.maxBytes = 100
    #expect(status(call) == .tooLarge)
    #expect(status(CallOptions()) == nil)
  }

  private func load(_ directory: TemporaryDirectory) throws -> WordCountModel {
    let model = ModelDirectory(path: directory.file("model"))
    return try WordCountModel.load(model, ObjectReader(model.file("config.json")))
  }

  private final class Stages: @unchecked Sendable {  // the hook runs on the test's thread
    var names: [String] = []
    var areInOrder = true
    private var last = 0.0

    /// Returns true if the stage is a new one.
    func add(_ stage: String, _ fraction: Double) -> Bool {
      let isNew = names.last != stage
      if isNew {
        names.append(stage)
        last = 0
      }
      areInOrder = areInOrder && (last...1).contains(fraction)
      last = fraction
      return isNew
    }
  }

  @Test func labelsThatAFoldLacksAreNoProblem() throws {
    let trainer = try ClassifierTrainer()
    for index in 0..<20 { try trainer.add("alpha beta gamma\(index)", label: "often") }
    try trainer.add("delta epsilon zeta", label: "once")
    let report = try trainer.trained().1
    #expect(
      report.confusion == [
        ConfusionEntry(trueLabel: 0, predictedLabel: 0, count: 20),
        ConfusionEntry(trueLabel: 1, predictedLabel: 0, count: 1),
      ] && report.labels == ["often", "once"])
    #expect(report.accuracy == 20.0 / 21)
  }
}
