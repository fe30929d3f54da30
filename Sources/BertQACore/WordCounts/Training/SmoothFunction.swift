/// What `LBFGS` minimises.
protocol SmoothFunction: AnyObject {
  /// Numbers in a position.
  var length: Int { get }

  /// The value at a position; writes the gradient there. Both [length].
  func evaluate(
    _ position: UnsafePointer<Double>, gradient: UnsafeMutablePointer<Double>,
    team: borrowing ThreadPool.Team
  ) -> Double
}
