import Glibc

/// Decides by the gap whether a question is impossible, and computes the probability of that. Only this type knows
/// the effect of the number of windows whose raw scores are compared.
struct AnswerDecision: Sendable {
  /// The threshold for one window.
  var threshold: Float = 0
  /// The increase of the threshold and of the calibration's midpoint when the number of windows grows by the factor e.
  var rise: Double = 0
  var calibration: AnswerCalibration?

  /// Returns the number below which a gap means "no answer".
  /// - Parameters:
  ///   - windows: the number of windows whose raw scores are compared.
  ///   - asked: the caller's threshold, which is not raised.
  func threshold(windows: Int, asked: Float?) -> Float {
    if let asked { return asked }
    let rise = rise(windows: windows)
    // Adding 0 could round.
    return rise == 0 ? threshold : Float(Double(threshold) + rise)
  }

  /// Returns the probability that there is an answer; nil if the model is not calibrated.
  func answerChance(gap: Float, windows: Int) -> Double? {
    calibration?.answerChance(gap: Double(gap) - rise(windows: windows))
  }

  /// The best of n similar scores exceeds a single one by about a multiple of ln n, because their tail falls
  /// exponentially.
  private func rise(windows: Int) -> Double { rise * log(Double(max(1, windows))) }
}
