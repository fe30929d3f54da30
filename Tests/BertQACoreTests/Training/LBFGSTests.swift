import Glibc
import Testing

@testable import BertQACore

@Suite struct LBFGSTests {
  /// Rosenbrock's function of many variables, a curved valley.
  private final class Valley: SmoothFunction {
    let length = 20

    func evaluate(
      _ x: UnsafePointer<Double>, gradient: UnsafeMutablePointer<Double>, team: borrowing ThreadPool.Team
    ) -> Double {
      var value = 0.0
      gradient.update(repeating: 0, count: length)
      for i in 0..<length - 1 {
        let (a, b) = (x[i + 1] - x[i] * x[i], 1 - x[i])
        value += 100 * a * a + b * b
        gradient[i] -= 400 * a * x[i] + 2 * b
        gradient[i + 1] += 200 * a
      }
      return value
    }
  }

  @Test func findsTheMinimumOfACurvedValley() throws {
    let solver = try LBFGS(Valley(), CallMonitor(CallOptions()))
    let team = ThreadPool.Team(maxThreads: 2)
    #expect(try solver.minimize(tolerance: 1e-9, maxIterations: 1000, team: team) { _ in })
    for x in solver.x.elements { #expect(abs(x - 1) < 1e-8) }
    #expect(solver.value < 1e-16)
  }

  @Test func stopsWhenTold() throws {
    let team = ThreadPool.Team(maxThreads: 1)
    let limited = try LBFGS(Valley(), CallMonitor(CallOptions()))
    #expect(try !limited.minimize(tolerance: 1e-9, maxIterations: 3, team: team) { _ in })
    #expect(limited.iterations == 3)
    var options = CallOptions()
    options.cancellation = Cancellation { true }
    let stopped = try LBFGS(Valley(), CallMonitor(options))
    #expect(throws: BertQAError.self) {
      try stopped.minimize(tolerance: 1e-9, maxIterations: 1000, team: team) { _ in }
    }
    #expect(stopped.iterations == 0)
    options = CallOptions()
    options.maxBytes = 1000
    let monitor = CallMonitor(options)
    #expect(throws: BertQAError.self) { try LBFGS(Valley(), monitor) }
  }

  /// The gradient is that of the loss, by differences, for every width of rows in registers.
  @Test(arguments: [2, 3, 4, 5, 6, 9, 17])
  func lossHasItsGradient(labelCount: Int) throws {
    let corpus = TrainingCorpus(count: 40, labelCount: labelCount, words: 10)
    let monitor = CallMonitor(CallOptions())
    var texts = TrainingTexts(.quick)
    for text in corpus.texts {
      try withBytes(of: text) { bytes throws(BertQAError) in try texts.add(bytes, monitor) }
    }
    let rows = Array(0..<40)
    let order = try texts.termsInOrder(monitor)
    let selection = try FeatureSelection(texts, rows: rows, order: order, .quick, monitor)
    let loss = try LogisticLoss(
      FeatureMatrix(texts, rows: rows, selection, monitor), targets: rows.map { Int32($0 % labelCount) },
      labelCount: labelCount, c: 0.5)
    let team = ThreadPool.Team(maxThreads: 2)
    var generator = SplitMix64(seed: 3)
    var x = (0..<loss.length).map { index in
      index % loss.stride < loss.outputs ? Double(generator.next(below: 1000)) / 1000 - 0.5 : 0
    }
    var gradient = [Double](repeating: 0, count: loss.length)
    var other = gradient
    let value = try loss.evaluate(x, gradient: &gradient, team: team)
    #expect(value > 0)
    for index in stride(from: 0, to: loss.length, by: 7) {
      guard index % loss.stride < loss.outputs else {
        #expect(gradient[index] == 0)
        continue
      }
      let kept = x[index]
      x[index] = kept + 1e-5
      let above = try loss.evaluate(x, gradient: &other, team: team)
      x[index] = kept - 1e-5
      let below = try loss.evaluate(x, gradient: &other, team: team)
      x[index] = kept
      #expect(abs((above - below) / 2e-5 - gradient[index]) < 1e-8)
    }
  }
}
