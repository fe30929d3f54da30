import BertQACore

/// The counts of a run in Prometheus' text format.
struct FilterMetrics {
  /// The labels of every metric: the contents of the braces in `{name="value",…}`.
  private let labels: String

  /// - Parameter path: the path of the file. Its name distinguishes runs whose metrics are collected from one
  ///   directory.
  init(path: String, labels: [(name: String, value: String)]) {
    var name = FilePath.split(path).name
    if name.hasSuffix(".prom") { name = String(name.dropLast(5)) }
    let all = labels.contains { $0.name == "run" } ? labels : [("run", name)] + labels
    self.labels = all.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
  }

  func text(_ counters: FilterCounters, outputBytes: Int, seconds: Double) -> String {
    var text = ""
    func metric(
      _ name: String, _ type: String, _ help: String, _ samples: [(label: String, value: String)]
    ) {
      text += "# HELP bertqa_filter_\(name) \(help)\n# TYPE bertqa_filter_\(name) \(type)\n"
      for sample in samples {
        let labels = sample.label.isEmpty ? labels : "\(labels),\(sample.label)"
        text += "bertqa_filter_\(name){\(labels)} \(sample.value)\n"
      }
    }
    func counter(_ name: String, _ help: String, _ value: Int) {
      metric("\(name)_total", "counter", help, [("", "\(value)")])
    }
    counter("records", "Records done, failed ones included.", counters.records)
    metric(
      "failed_records_total", "counter", "Records without a result, by what was wrong.",
      zip(RecordProblem.Kind.allCases, counters.failedByKind).map { ("kind=\"\($0.rawValue)\"", "\($1)") })
    counter("records_without_text", "Records that have null for a text.", counters.withoutText)
    counter("written_records", "Records in the output.", counters.written)
    counter("dead_letters", "Records in the dead-letter file.", counters.deadLetters)
    counter("windows", "Windows that the model has read.", counters.windows)
    counter("batches", "Batches of records.", counters.batches)
    counter("input_bytes", "Bytes of the input that are done.", counters.inputBytes)
    counter("output_bytes", "Bytes of the output that are written.", outputBytes)
    counter("losses", "Reports that records of a followed file were lost.", counters.losses)
    metric("uptime_seconds", "gauge", "Since the model was loaded.", [("", "\(seconds)")])
    return text
  }

  /// True if Prometheus allows this label name.
  static func isLabelName(_ name: Substring) -> Bool {
    guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
      return false
    }
    return !name.hasPrefix("__") && name != "kind"
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
      }
  }

  private static func escaped(_ value: String) -> String {
    var escaped = ""
    for character in value.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
