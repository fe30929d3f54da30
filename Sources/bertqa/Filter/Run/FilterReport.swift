import Glibc

/// The summary, metrics and progress of a run.
final class FilterReport {
  private let settings: FilterSettings
  /// The size of the input in bytes, if known.
  private let inputSize: Int
  private let start = Clock.seconds()
  /// The counts of earlier runs.
  private let before: FilterCounters
  private var lastMetrics = 0.0
  private var lastLine = 0.0
  private let drawsLine: Bool
  private var isDrawn = false
  /// True if it was reported that the metrics cannot be written.
  private var hasWarned = false

  /// The time in seconds between updates of the metrics, and of progress that cannot be redrawn in place.
  private static let interval = 5.0

  init(_ settings: FilterSettings, inputSize: Int, before: FilterCounters) {
    self.settings = settings
    self.inputSize = inputSize
    self.before = before
    drawsLine = Terminal.isCapable(STDERR_FILENO)
    lastLine = start
  }

  /// Writes one line for a failed record to standard error.
  func report(_ message: String) {
    if isDrawn { StatusLine.clear() }
    isDrawn = false
    bertqa_cli.report(message)
  }

  /// Call this often.
  func update(_ counters: FilterCounters, outputBytes: Int) {
    let now = Clock.seconds()
    if settings.metrics != nil, now - lastMetrics >= Self.interval {
      lastMetrics = now
      writeMetrics(counters, outputBytes: outputBytes)
    }
    if drawsLine, now - start >= 1, now - lastLine >= 0.2 {
      lastLine = now
      isDrawn = true
      StatusLine.draw(progress(counters))
    } else if settings.showsProgress, !drawsLine, now - lastLine >= Self.interval {
      lastLine = now
      report(progress(counters))
    }
  }

  /// Writes what was asked for at the end of a run. Throws if a file cannot be written, after it tried all.
  /// - Parameter ending: the reason why the run ended before the end of the input, if it did.
  func finish(_ counters: FilterCounters, outputBytes: Int, ending: String?) throws(ToolError) {
    if isDrawn { StatusLine.clear() }
    isDrawn = false
    if drawsLine && Clock.seconds() - start >= 1 || settings.showsProgress { report(progress(counters)) }
    if settings.metrics != nil { writeMetrics(counters, outputBytes: outputBytes) }
    var failure: ToolError?
    for (path, text) in [
      (settings.report, counters.entities.report(textCount: counters.succeeded - counters.withoutText)),
      (settings.stats, summary(counters, outputBytes: outputBytes, ending: ending)),
    ] {
      guard let path else { continue }
      do throws(ToolError) {
        try FileWriting.replace(path.string, with: text)
      } catch {
        if let failure { report(failure.message) }
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func progress(_ counters: FilterCounters) -> String {
    var text = "\(counters.records) records"
    if inputSize > 0 { text += " (\(min(100, 100 * counters.inputBytes / inputSize)) %)" }
    return text + ", \(Int(rate(counters))) a second, \(counters.failed) failed"
  }

  /// Returns the records per second of this run.
  private func rate(_ counters: FilterCounters) -> Double {
    Double(counters.records - before.records) / max(1e-9, Clock.seconds() - start)
  }

  private func summary(_ counters: FilterCounters, outputBytes: Int, ending: String?) -> String {
    var writer = JSONWriter()
    writer.object { writer in
      for (name, value) in [
        ("records", counters.records), ("succeeded", counters.succeeded), ("failed", counters.failed),
        ("without_text", counters.withoutText),
        ("written", counters.written), ("dead_letters", counters.deadLetters),
        ("blank_lines", counters.blankLines), ("windows", counters.windows), ("batches", counters.batches),
        ("input_bytes", counters.inputBytes), ("output_bytes", outputBytes), ("losses", counters.losses),
      ] {
        writer.integer(name, value)
      }
      writer.object("failed_by_kind") { writer in
        for (kind, count) in zip(RecordProblem.Kind.allCases, counters.failedByKind) {
          writer.integer(kind.rawValue, count)
        }
      }
      writer.number("seconds", Float(Clock.seconds() - start))
      writer.number("records_per_second", Float(rate(counters)))
      writer.optional("ended_by", ending?.utf8)
    }
    return String(decoding: writer.takeLine(), as: UTF8.self)
  }

  /// Metrics are secondary: a write error is reported once and does not end the run.
  private func writeMetrics(_ counters: FilterCounters, outputBytes: Int) {
    guard let path = settings.metrics?.string else { return }
    let metrics = FilterMetrics(path: path, labels: settings.metricsLabels)
    do throws(ToolError) {
      try FileWriting.replace(
        path, with: metrics.text(counters, outputBytes: outputBytes, seconds: Clock.seconds() - start))
    } catch {
      if !hasWarned { report("warning: \(error.message); the run goes on") }
      hasWarned = true
    }
  }
}
