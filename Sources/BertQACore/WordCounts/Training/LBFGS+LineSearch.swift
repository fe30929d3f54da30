extension LBFGS {
  private static let sufficientDecrease = 1e-4
  private static let curvature = 0.9
  private static let maximumEvaluations = 30

  private struct Point {
    var step: Double
    var value: Double
    var slope: Double
  }

  /// Finds a step along the direction that satisfies the strong Wolfe conditions, and leaves the position and
  /// gradient there in `nextX` and `nextGradient`.
  /// - Returns: the value there; nil where no step improves it.
  func searchLine(from value: Double, firstStep: Double, team: borrowing ThreadPool.Team) -> Double? {
    let start = Point(step: 0, value: value, slope: slope)
    // The minimum lies between these.
    var low = start
    var high: Point?
    var step = firstStep
    for _ in 0..<Self.maximumEvaluations {
      let point = evaluate(step, team: team)
      // Close to the minimum differences of values are rounding.
      let slack = 4 * Double.ulpOfOne * abs(value)
      let bound = value + Self.sufficientDecrease * step * slope + slack
      if !point.value.isFinite || point.value > bound {
        high = point
      } else if abs(point.slope) <= Self.curvature * abs(slope) {
        return point.value
      } else if point.slope < 0 {
        low = point
      } else {
        high = point
      }
      step = high.map { Self.between(low, $0) } ?? 4 * step
    }
    guard low.step > 0 else { return nil }
    return evaluate(low.step, team: team).value
  }

  private func evaluate(_ step: Double, team: borrowing ThreadPool.Team) -> Point {
    let (from, direction, to) = (x.base, direction.base, nextX.base)
    forEachBlock(team) { _, range in
      for index in range { to[index] = from[index] + step * direction[index] }
    }
    let value = function.evaluate(nextX.base, gradient: nextGradient.base, team: team)
    return Point(step: step, value: value, slope: slopeOfNext(team: team))
  }

  /// The minimum of the cubic through both points (Nocedal and Wright, 3.59), kept off the ends.
  private static func between(_ low: Point, _ high: Point) -> Double {
    let width = high.step - low.step
    let first = low.slope + high.slope - 3 * (low.value - high.value) / (low.step - high.step)
    let root = (first * first - low.slope * high.slope).squareRoot()
    let step =
      high.step - width * (high.slope + root - first) / (high.slope - low.slope + 2 * root)
    guard step.isFinite else { return low.step + width / 2 }
    return min(max(step, low.step + 0.1 * width), high.step - 0.1 * width)
  }
}
