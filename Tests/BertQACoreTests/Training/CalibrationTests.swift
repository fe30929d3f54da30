import Glibc
import Testing

@testable import BertQACore

/// The fit of `LengthTemperature`, and what it does to a model.
@Suite struct CalibrationTests {
  private var team: ThreadPool.Team { ThreadPool.Team(maxThreads: 1) }

  /// Logits whose labels are drawn with the probabilities at a temperature.
  private struct Sample {
    var texts: [(target: Int, logits: [Double], occurrences: Int)] = []

    init(count: Int, labelCount: Int, _ temperature: LengthTemperature, seed: UInt64 = 5) {
      var generator = SplitMix64(seed: seed)
      func uniform() -> Double { (Double(generator.next(below: 1 << 30)) + 0.5) / Double(1 << 30) }
      for _ in 0..<count {
        let occurrences = 1 + generator.next(below: 400)
        let divisor = temperature.at(occurrences: occurrences)
        // Scaled so that probabilities are neither all equal nor all certain.
        let logits = (0..<labelCount).map { _ in divisor * 4 * uniform() }
        var probabilities = logits.map { $0 / divisor }
        softmax(&probabilities, count: labelCount)
        var rest = uniform()
        let target = probabilities.firstIndex {
          rest -= $0
          return rest < 0
        }
        texts.append((target ?? 0, logits, occurrences))
      }
    }

    func calibration(folds: Int = 2) throws -> Calibration {
      let labels = Array(0..<(texts.first?.logits.count ?? 2))
      let calibration = try Calibration(
        textCount: texts.count, labelCount: labels.count, foldCount: folds, CallMonitor(CallOptions()))
      for (index, text) in texts.enumerated() {
        try calibration.add(
          fold: index % folds, target: text.target, logits: text.logits, of: labels,
          occurrences: text.occurrences)
      }
      return calibration
    }

    func meanLogLoss(_ temperature: LengthTemperature) -> Double {
      texts.reduce(0) { sum, text in
        var scores = text.logits.map { $0 / temperature.at(occurrences: text.occurrences) }
        let score = scores[text.target]
        return sum + softmax(&scores, count: scores.count) - score
      } / Double(texts.count)
    }
  }

  @Test(arguments: [(0.0, 0.0), (1.5, 0.4), (-1, 0.3), (3, 0.7), (2, -0.5)])
  func findsTheTemperatureThatTheTextsWereDrawnWith(intercept: Double, slope: Double) throws {
    let truth = LengthTemperature(intercept: intercept, slope: slope)
    let sample = Sample(count: 20_000, labelCount: 4, truth)
    let found = try sample.calibration().temperature(team)
    for occurrences in [3, 30, 300] {
      let ratio = found.at(occurrences: occurrences) / truth.at(occurrences: occurrences)
      #expect((0.9...1.1).contains(ratio), "\(found) at \(occurrences)")
    }
    let error = try sample.calibration().metrics(team).calibrationError
    #expect(error < 0.02)
  }

  /// No point of a fine grid around it has a smaller loss.
  @Test func findsTheMinimum() throws {
    let sample = Sample(count: 500, labelCount: 3, LengthTemperature(intercept: 1, slope: 0.5))
    let found = try sample.calibration().temperature(team)
    let least = sample.meanLogLoss(found)
    for deviation in [(0.05, 0), (-0.05, 0), (0, 0.02), (0, -0.02), (0.05, -0.01), (-0.05, 0.01)] {
      let other = LengthTemperature(
        intercept: found.intercept + deviation.0, slope: found.slope + deviation.1, longest: found.longest)
      // The prior of one text moves the minimum by less than what these lose.
      #expect(sample.meanLogLoss(other) > least - 1e-5, "\(deviation)")
    }
  }

  @Test func isFiniteWhateverTheTexts() throws {
    func fitted(_ texts: [(target: Int, logits: [Double], occurrences: Int)]) throws -> LengthTemperature {
      var sample = Sample(count: 0, labelCount: 2, .one)
      sample.texts = texts
      return try sample.calibration().temperature(team)
    }
    let range = LengthTemperature.limits
    for texts: [(target: Int, logits: [Double], occurrences: Int)] in [
      [], [(0, [1, 0], 5)],
      // All right, all wrong, all equal, without a word, and enormous.
      (0..<50).map { (0, [Double($0 + 1), 0], $0) }, (0..<50).map { (1, [Double($0 + 1), 0], $0) },
      (0..<50).map { ($0 % 2, [0, 0], $0) }, (0..<50).map { ($0 % 2, [0, 1], 0) },
      (0..<50).map { ($0 % 2, [3e38, -3e38], 1 << 31 + $0) }, (0..<50).map { (0, [3e38, -3e38], $0) },
    ] {
      let found = try fitted(texts)
      #expect(range.contains(found.intercept) && range.contains(found.slope), "\(found)")
      for occurrences in [0, 1 << 31] {
        let temperature = found.at(occurrences: occurrences)
        #expect(temperature.isFinite && temperature > 0)
      }
    }
  }

  /// The fold's model does not know the label of some of its texts: they count as wrong, and not in the fit.
  @Test func labelsThatAFoldLacks() throws {
    let calibration = try Calibration(
      textCount: 4, labelCount: 3, foldCount: 2, CallMonitor(CallOptions()))
    for fold in 0..<2 {
      try calibration.add(fold: fold, target: 0, logits: [2, 1], of: [0, 1], occurrences: 5)
      try calibration.add(fold: fold, target: 2, logits: [2, 1], of: [0, 1], occurrences: 5)
    }
    let temperature = try calibration.temperature(team)
    #expect(temperature.intercept.isFinite && temperature.slope.isFinite)
    let metrics = try calibration.metrics(team)
    #expect(metrics.accuracy == 0.5 && metrics.recall == [1, 0, 0])
  }

  @Test(arguments: [TrainingAlgorithm.naiveBayes, .logisticRegression])
  func aCalibratedModelKeepsItsOrderAndIsLessWrongAboutItself(algorithm: TrainingAlgorithm) throws {
    // Each word four times: naive Bayes takes them for four witnesses.
    var corpus = TrainingCorpus(count: 600, labelCount: 3, words: 60)
    corpus.repeatWords(4)
    var options = TrainOptions()
    options.algorithm = algorithm
    let before = try TemporaryDirectory()
    let plain = try corpus.trainer(options).finish(modelDirectory: before.file("model"))
    options.calibrates = true
    let after = try TemporaryDirectory()
    let calibrated = try corpus.trainer(options).finish(modelDirectory: after.file("model"))
    #expect(calibrated.accuracy == plain.accuracy && calibrated.confusion == plain.confusion)
    #expect(calibrated.calibrationError < plain.calibrationError - 0.01)
    #expect(try !before.text("model/config.json").contains("temperature"))

    let fitted = try corpus.trainer(options).trained().0.temperature
    let (first, second) = (
      try Context(modelDirectory: before.file("model")), try Context(modelDirectory: after.file("model"))
    )
    for text in corpus.texts.prefix(50) {
      let (own, other) = (try first.classify(text), try second.classify(text))
      #expect(own.scores.map(\.label) == other.scores.map(\.label))
      #expect(own.scores.map(\.logit) == other.scores.map(\.logit))
      guard !other.scores.isEmpty else { continue }
      let words = text.split(separator: " ").count
      var expected = own.scores.map { Double($0.logit) / fitted.at(occurrences: words) }
      softmax(&expected, count: expected.count)
      for (score, probability) in pairs(other.scores, expected) {
        #expect(abs(Double(score.probability) - probability) < 1e-4)
      }
    }
  }

  @Test func aLongerTextIsAsSureAsTheLongestOfItsMixture() throws {
    var temperature = LengthTemperature(intercept: 1, slope: 0.5)
    temperature.longest = 400
    #expect(
      abs(temperature.at(occurrences: 400) - LengthTemperature(intercept: 1, slope: 0.5).at(occurrences: 400))
        < 1e-12)
    #expect(abs(temperature.at(occurrences: 1200) - 3 * temperature.at(occurrences: 400)) < 1e-9)
    let corpus = TrainingCorpus(count: 300, labelCount: 3, words: 60)
    var options = TrainOptions()
    options.algorithm = .naiveBayes
    options.calibrates = true
    let directory = try TemporaryDirectory()
    let context = try corpus.context(directory, options)
    let words = corpus.texts.map { $0.split(separator: " ").count }
    let reader = try ModelDirectory(path: directory.file("model")).object(in: "config.json")
    #expect(try reader.reader("temperature")?.integer("max_occurrences", in: 1...1000) == words.sorted()[285])
    for text in corpus.texts.prefix(20) where !text.isEmpty {
      let longer = [50, 5000].map { Array(repeating: text, count: $0).joined(separator: " ") }
      let found = try longer.map { try context.classify($0) }
      for (one, other) in pairs(found[0].scores, found[1].scores) {
        #expect(one.label == other.label && abs(one.probability - other.probability) < 1e-4)
      }
    }
  }

  @Test func needsACrossValidation() {
    var options = TrainOptions.quick
    options.calibrates = true
    let error = failure { _ = try ClassifierTrainer(options: options) }
    #expect(error?.status == .invalidArgument && error?.message.contains("calibrate") == true)
  }

  @Test func foldsAreWholeGroups() throws {
    let groups: [Int32] = [0, 1, 1, 2, 2, 2, 3, 0, 1]
    for count in [2, 3, 4, 9] {
      let folds = try Folds(count: count, groups: groups, groupCount: 4)
      #expect(folds.count == min(count, 4))
      #expect(try (0..<folds.count).flatMap { try folds.heldOut($0) }.sorted() == Array(groups.indices))
      for fold in 0..<folds.count {
        let held = try Set(folds.heldOut(fold).map { groups[$0] })
        #expect(try !held.isEmpty && held.isDisjoint(with: folds.kept(fold).map { groups[$0] }))
      }
    }
    #expect(try Folds(count: 2, groups: groups, groupCount: 4).heldOut(0).count == 5)
  }

  /// Each group has words of its own, which tell the label there and nowhere else: what a random division learns from
  /// them does not carry over.
  @Test func groupsAreHeldOutWhole() throws {
    func accuracy(grouped: Bool) throws -> Double {
      let trainer = try ClassifierTrainer()
      for index in 0..<120 {
        let (group, label) = (index % 4, index / 4 % 2)
        try trainer.add(
          "shared words everywhere group\(group)label\(label)", label: "\(label)",
          group: grouped ? "\(group)" : "")
      }
      #expect(trainer.groupCount == (grouped ? 4 : 1))
      return try trainer.trained().1.accuracy
    }
    #expect(try accuracy(grouped: false) == 1)
    #expect(try accuracy(grouped: true) <= 0.6)
  }
}
