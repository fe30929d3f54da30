/// A function that `LBFGS` can minimise.
protocol SmoothFunction: AnyObject {
  /// The number of coordinates of a position.
  var length: Int { get }

  /// Returns the value at a position and writes the gradient there. Both are [length].
  /// - Throws: the reason why the call ends early.
  func evaluate(
    _ position: UnsafePointer<Double>, gradient: UnsafeMutablePointer<Double>,
    team: borrowing ThreadPool.Team
  ) throws(BertQAError) -> Double
}

/// Finds the minimum of a smooth function with the limited-memory BFGS method (Nocedal and Wright, Numerical
/// Optimization, algorithm 7.5), starting at 0.
///
/// It computes directions from the inner products of the history's vectors (Chen, Wang and Zhou 2014), in two
/// passes over them. Sums are made in blocks of fixed size, so results do not depend on the number of
/// threads.
final class LBFGS {
  /// The position, and the value and gradient there.
  private(set) var x: GrowableBuffer<Double>
  private(set) var value = 0.0
  private(set) var gradient: GrowableBuffer<Double>
  private(set) var iterations = 0

  private let function: any SmoothFunction
  private let monitor: CallMonitor
  /// The position that the line search tries, and the gradient there.
  private var nextX: GrowableBuffer<Double>
  private var nextGradient: GrowableBuffer<Double>
  private var direction: GrowableBuffer<Double>
  /// The direction's inner product with the gradient.
  private var slope = 0.0

  /// The number of steps that are remembered.
  private let slots: Int
  /// [2 · slots][length]: steps of the position, then those of the gradient.
  private var pairs: GrowableBuffer<Double>
  /// The inner products of all these vectors, and of the gradient (last) with all. [2 · slots + 1]²
  private var products: [Double]
  /// The slots in use, oldest first.
  private var used: [Int] = []
  /// [block][products that a block contributes to]
  private var partial: GrowableBuffer<Double>

  private let heldBytes: Int

  /// The number of a vector's elements in one task: 64 KiB.
  private static let blockSize = 8192

  /// - Parameter monitor: accounts for the memory of 25 vectors (fewer if they have more than 2²³ numbers),
  ///   and is polled before each evaluation of `function`.
  init(_ function: any SmoothFunction, _ monitor: CallMonitor) throws(BertQAError) {
    self.function = function
    self.monitor = monitor
    let length = function.length
    slots = max(3, min(10, (1 << 27) / max(1, length)))
    let width = 2 * slots + 1
    heldBytes = (5 + 2 * slots) * length * MemoryLayout<Double>.stride
    try monitor.hold(heldBytes)
    x = try GrowableBuffer(repeating: 0, count: length)
    gradient = try GrowableBuffer(repeating: 0, count: length)
    nextX = try GrowableBuffer(repeating: 0, count: length)
    nextGradient = try GrowableBuffer(repeating: 0, count: length)
    direction = try GrowableBuffer(repeating: 0, count: length)
    pairs = try GrowableBuffer(repeating: 0, count: 2 * slots * length)
    products = Array(repeating: 0, count: width * width)
    partial = try GrowableBuffer(repeating: 0, count: (length / Self.blockSize + 1) * 3 * width)
  }

  deinit { monitor.release(heldBytes) }

  /// Iterates until no component of the gradient is larger than `tolerance`, `maxIterations` are done, or no
  /// step improves the value.
  /// - Parameter report: receives the largest component after each iteration.
  /// - Returns: true if the tolerance was reached.
  func minimize(
    tolerance: Double, maxIterations: Int, team: borrowing ThreadPool.Team, report: (Double) -> Void
  ) throws(BertQAError) -> Bool {
    try monitor.check()
    value = try function.evaluate(x.base, gradient: gradient.base, team: team)
    updateProducts(newSlot: nil, team: team)
    while true {
      let largest = largestComponent()
      report(largest)
      if largest <= tolerance { return true }
      guard iterations < maxIterations, try step(team: team) else { return false }
      iterations += 1
    }
  }

  private func largestComponent() -> Double {
    var largest = 0.0
    for component in gradient.elements { largest = max(largest, abs(component)) }
    return largest
  }

  /// Makes one step along a direction of descent. Returns false if no step improves the value.
  private func step(team: borrowing ThreadPool.Team) throws(BertQAError) -> Bool {
    while true {
      findDirection(team: team)
      let isFirst = used.isEmpty
      let firstStep = isFirst ? 1 / max(1e-300, (-slope).squareRoot()) : 1
      if slope < 0, let nextValue = try searchLine(from: value, firstStep: firstStep, team: team) {
        accept(nextValue, team: team)
        return true
      }
      if isFirst { return false }
      // The history misleads: discard it.
      used = []
    }
  }

  /// Moves to the position that the line search found, and remembers the step.
  private func accept(_ nextValue: Double, team: borrowing ThreadPool.Team) {
    let slot = (0..<slots).first { !used.contains($0) } ?? used.removeFirst()
    let length = function.length
    let (s, y) = (pairs.base + slot * length, pairs.base + (slots + slot) * length)
    let (x0, x1, g0, g1) = (x.base, nextX.base, gradient.base, nextGradient.base)
    forEachBlock(team) { _, range in
      for index in range {
        s[index] = x1[index] - x0[index]
        y[index] = g1[index] - g0[index]
      }
    }
    swap(&x, &nextX)
    swap(&gradient, &nextGradient)
    value = nextValue
    used.append(slot)
    updateProducts(newSlot: slot, team: team)
    // The approximation stays positive only with steps along which the gradient grows.
    let (step, change) = (slot, slots + slot)
    if product(step, change) <= 1e-14 * product(change, change) { used.removeLast() }
  }

  private func product(_ a: Int, _ b: Int) -> Double { products[a * (2 * slots + 1) + b] }

  /// Computes the products with the changed vectors: the two of a slot, and the gradient.
  private func updateProducts(newSlot: Int?, team: borrowing ThreadPool.Team) {
    let last = 2 * slots
    // Without a new slot, computes the gradient's products three times.
    let changed = newSlot.map { ($0, slots + $0, last) } ?? (last, last, last)
    let others = used + used.map { slots + $0 } + [last]
    let count = 3 * others.count
    let changedVectors = (vector(changed.0), vector(changed.1), vector(changed.2))
    let otherVectors = others.map { vector($0) }
    let partial = partial.base
    forEachBlock(team) { block, range in
      let first = range.lowerBound
      let vectors = (
        UnsafePointer(changedVectors.0 + first), UnsafePointer(changedVectors.1 + first),
        UnsafePointer(changedVectors.2 + first)
      )
      for (index, other) in otherVectors.enumerated() {
        let sums = innerProducts(other + first, with: vectors, count: range.count)
        let target = partial + (block * count + 3 * index)
        (target[0], target[1], target[2]) = sums
      }
    }
    for (index, other) in others.enumerated() {
      for (offset, vector) in [changed.0, changed.1, changed.2].enumerated() {
        let sum = total(3 * index + offset, of: count)
        products[vector * (last + 1) + other] = sum
        products[other * (last + 1) + vector] = sum
      }
    }
  }

  private func vector(_ index: Int) -> UnsafeMutablePointer<Double> {
    index == 2 * slots ? gradient.base : pairs.base + index * function.length
  }

  /// Computes the direction of the approximated Newton step, and its slope.
  private func findDirection(team: borrowing ThreadPool.Team) {
    let last = 2 * slots
    // One per vector: the direction is their linear combination.
    var coefficients = [Double](repeating: 0, count: last + 1)
    coefficients[last] = -1
    func dot(_ other: Int) -> Double {
      (used + used.map { slots + $0 } + [last]).reduce(0) { $0 + coefficients[$1] * product($1, other) }
    }
    var alphas: [Double] = []
    for slot in used.reversed() {
      let alpha = dot(slot) / product(slot, slots + slot)
      coefficients[slots + slot] -= alpha
      alphas.append(alpha)
    }
    if let newest = used.last {
      let scale = product(newest, slots + newest) / product(slots + newest, slots + newest)
      for index in coefficients.indices { coefficients[index] *= scale }
    }
    for (slot, alpha) in zip(used, alphas.reversed()) {
      coefficients[slot] += alpha - dot(slots + slot) / product(slot, slots + slot)
    }
    slope = dot(last)
    let terms = (used + used.map { slots + $0 } + [last]).map { (vector($0), coefficients[$0]) }
    let direction = direction.base
    forEachBlock(team) { _, range in
      let target = direction + range.lowerBound
      target.update(repeating: 0, count: range.count)
      for (vector, coefficient) in terms {
        add(vector + range.lowerBound, times: coefficient, to: target, count: range.count)
      }
    }
  }

  // MARK: Vectors in blocks

  private func forEachBlock(
    _ team: borrowing ThreadPool.Team, _ body: @escaping (_ block: Int, _ range: Range<Int>) -> Void
  ) {
    let length = function.length
    team.run(count: (length + Self.blockSize - 1) / Self.blockSize) { block, _ in
      body(block, block * Self.blockSize..<min(length, (block + 1) * Self.blockSize))
    }
  }

  /// Returns the inner product of the direction and the gradient at the tried position.
  private func slopeOfNext(team: borrowing ThreadPool.Team) -> Double {
    let (direction, gradient, partial) = (direction.base, nextGradient.base, partial.base)
    forEachBlock(team) { block, range in
      let vector = UnsafePointer(direction + range.lowerBound)
      let sums = innerProducts(
        gradient + range.lowerBound, with: (vector, vector, vector), count: range.count)
      partial[block] = sums.0
    }
    return total(0, of: 1)
  }

  /// Returns the sum of all blocks' parts at `index`.
  private func total(_ index: Int, of count: Int) -> Double {
    let blocks = (function.length + Self.blockSize - 1) / Self.blockSize
    return (0..<blocks).reduce(0) { $0 + partial[$1 * count + index] }
  }
}

// MARK: - Line search

extension LBFGS {
  private static let sufficientDecrease = 1e-4
  private static let curvature = 0.9
  private static let maximumEvaluations = 30

  private struct Point {
    var step: Double
    var value: Double
    var slope: Double
  }

  /// Finds a step along the direction that satisfies the strong Wolfe conditions. Leaves its position and
  /// gradient in `nextX` and `nextGradient`.
  /// - Returns: the value there; nil if no step improves it.
  private func searchLine(
    from value: Double, firstStep: Double, team: borrowing ThreadPool.Team
  ) throws(BertQAError) -> Double? {
    let start = Point(step: 0, value: value, slope: slope)
    // The minimum is between these.
    var low = start
    var high: Point?
    var step = firstStep
    for _ in 0..<Self.maximumEvaluations {
      let point = try evaluate(step, team: team)
      // Close to the minimum, differences of values are rounding errors.
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
    return try evaluate(low.step, team: team).value
  }

  private func evaluate(_ step: Double, team: borrowing ThreadPool.Team) throws(BertQAError) -> Point {
    try monitor.check()
    let (from, direction, to) = (x.base, direction.base, nextX.base)
    forEachBlock(team) { _, range in
      for index in range { to[index] = from[index] + step * direction[index] }
    }
    let value = try function.evaluate(nextX.base, gradient: nextGradient.base, team: team)
    return Point(step: step, value: value, slope: slopeOfNext(team: team))
  }

  /// Returns the minimum of the cubic through both points (Nocedal and Wright, 3.59), kept away from the
  /// ends.
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
