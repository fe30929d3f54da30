import Glibc

/// The numbers of a run for people and machines: summary, metrics and progress.
final class FilterReport {
  private let settings: FilterSettings
  /// Bytes of the input, if that is known.
  private let inputSize: Int
  private let start = Clock.seconds()
  /// What was done by runs before this one.
  private let before: FilterCounters
  private var lastMetrics = 0.0
  private var lastLine = 0.0
  private let drawsLine: Bool
  private var isDrawn = false

  /// Seconds between two writings of the metrics, and of the progress where it cannot be drawn over.
  private static let interval = 5.0

  init(_ settings: FilterSettings, inputSize: Int, before: FilterCounters) {
    self.settings = settings
    self.inputSize = inputSize
    self.before = before
    drawsLine = Terminal.isCapable(STDERR_FILENO)
    lastLine = start
  }

  /// Standard error: one line for a record that failed.
  func report(_ message: String) {
    if isDrawn { StatusLine.clear() }
    isDrawn = false
    bertqa_cli.report(message)
  }

  /// To be called often.
  func update(_ counters: FilterCounters, outputBytes: Int) throws(ToolError) {
    let now = Clock.seconds()
    if settings.metrics != nil, now - lastMetrics >= Self.interval {
      lastMetrics = now
      try writeMetrics(counters, outputBytes: outputBytes)
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

  /// - Parameter ending: what ended the run before the input's end, if something did.
  func finish(_ counters: FilterCounters, outputBytes: Int, ending: String?) throws(ToolError) {
    if isDrawn { StatusLine.clear() }
    isDrawn = false
    if drawsLine && Clock.seconds() - start >= 1 || settings.showsProgress { report(progress(counters)) }
    if settings.metrics != nil { try writeMetrics(counters, outputBytes: outputBytes) }
    guard let path = settings.stats else { return }
    try FileWriting.replace(
      path.string, with: summary(counters, outputBytes: outputBytes, ending: ending), isDurable: false)
  }

  private func progress(_ counters: FilterCounters) -> String {
    var text = "\(counters.records) records"
    if inputSize > 0 { text += " (\(min(100, 100 * counters.inputBytes / inputSize)) %)" }
    return text + ", \(Int(rate(counters))) a second, \(counters.failed) failed"
  }

  /// Records a second, of this run.
  private func rate(_ counters: FilterCounters) -> Double {
    Double(counters.records - before.records) / max(1e-9, Clock.seconds() - start)
  }

  private func summary(_ counters: FilterCounters, outputBytes: Int, ending: String?) -> String {
    var writer = JSONWriter()
    writer.object { writer in
      for (name, value) in [
        ("records", counters.records), ("succeeded", counters.succeeded), ("failed", counters.failed),
        ("written", counters.written), ("dead_letters", counters.deadLetters),
        ("blank_lines", counters.blankLines), ("windows", counters.windows), ("batches", counters.batches),
        ("input_bytes", counters.inputBytes), ("output_bytes", outputBytes),
      ] {
        writer.key(name)
        writer.integer(value)
      }
      writer.key("failed_by_kind")
      writer.object { writer in
        for (kind, count) in zip(RecordProblem.Kind.allCases, counters.failedByKind) {
          writer.key(kind.rawValue)
          writer.integer(count)
        }
      }
      writer.key("seconds")
      writer.number(Float(Clock.seconds() - start))
      writer.key("records_per_second")
      writer.number(Float(rate(counters)))
      writer.key("ended_by")
      if let ending { writer.string(ending) } else { writer.null() }
    }
    return String(decoding: writer.takeLine(), as: UTF8.self)
  }

  private func writeMetrics(_ counters: FilterCounters, outputBytes: Int) throws(ToolError) {
    guard let path = settings.metrics else { return }
    var text = ""
    func metric(
      _ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: String)]
    ) {
      text += "# HELP bertqa_filter_\(name) \(help)\n# TYPE bertqa_filter_\(name) \(type)\n"
      for sample in samples { text += "bertqa_filter_\(name)\(sample.labels) \(sample.value)\n" }
    }
    func counter(_ name: String, _ help: String, _ value: Int) {
      metric("\(name)_total", "counter", help, [("", "\(value)")])
    }
    counter("records", "Records done, failed ones included.", counters.records)
    metric(
      "failed_records_total", "counter", "Records without a result, by what was wrong.",
      zip(RecordProblem.Kind.allCases, counters.failedByKind).map { ("{kind=\"\($0.rawValue)\"}", "\($1)") })
    counter("written_records", "Records in the output.", counters.written)
    counter("dead_letters", "Records in the dead-letter file.", counters.deadLetters)
    counter("windows", "Windows that the model has read.", counters.windows)
    counter("batches", "Batches of records.", counters.batches)
    counter("input_bytes", "Bytes of the input that are done.", counters.inputBytes)
    counter("output_bytes", "Bytes of the output that are written.", outputBytes)
    metric("uptime_seconds", "gauge", "Since the model was loaded.", [("", "\(Clock.seconds() - start)")])
    try FileWriting.replace(path.string, with: text, isDurable: false)
  }
}
