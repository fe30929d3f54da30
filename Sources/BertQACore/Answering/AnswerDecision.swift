import Glibc

/// What a model makes of the gap of a document: whether its question is impossible, and the chance of that.
///
/// The one place that knows of the number of windows: whichever way a document is asked, its result is made with this.
struct AnswerDecision: Sendable, Equatable {
  /// Of a document of one window.
  var threshold: Float = 0
  /// By how much the threshold and the calibration's midpoint rise when the number of windows grows by the factor e.
  var rise: Double = 0
  var calibration: AnswerCalibration?

  /// What the gap is compared with.
  /// - Parameters:
  ///   - windows: that the model has read.
  ///   - asked: the caller's threshold, which is applied as it is.
  func threshold(windows: Int, asked: Float?) -> Float {
    if let asked { return asked }
    let rise = rise(windows: windows)
    // Not even rounded where nothing is added.
    return rise == 0 ? threshold : Float(Double(threshold) + rise)
  }

  /// nil: the model is not calibrated.
  func answerChance(gap: Float, windows: Int) -> Double? {
    calibration?.answerChance(gap: Double(gap) - rise(windows: windows))
  }

  /// The best of n like scores is higher than one by about a multiple of ln n: their tail falls exponentially.
  private func rise(windows: Int) -> Double { rise * log(Double(max(1, windows))) }
}
