import BertQACore
import CBertQAHeader

/// A training's report and its C views.
final class TrainingReportHandle: Handle {
  let confusion: [ConfusionEntry]
  let summary: CArray<bertqa_training_summary>
  let labels: CArray<bertqa_training_label>
  /// The storage of the labels.
  private let names: CStrings

  init(_ report: TrainingReport) throws(BertQAError) {
    confusion = report.confusion
    summary = try CArray([bertqa_training_summary(report)])
    let names = try CStrings(report.labels)
    labels = try CArray((0..<names.count).lazy.map { bertqa_training_label(report, $0, names) })
    self.names = names
  }
}

extension bertqa_training_summary {
  fileprivate init(_ report: TrainingReport) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    text_count = report.textCount
    vocabulary_size = report.vocabularySize
    loss = report.loss
    accuracy = report.accuracy
    macro_f1 = report.macroF1
    calibration_error = report.calibrationError
    iterations = Int32(clamping: report.iterations)
    is_converged = report.hasConverged ? 1 : 0
    other_accuracy = report.otherAccuracy
    other_macro_f1 = report.otherMacroF1
    features = report.features.rawValue
  }
}

extension bertqa_training_label {
  fileprivate init(_ report: TrainingReport, _ index: Int, _ names: CStrings) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    let name = names.string(at: index)
    label = name?.base
    label_length = name?.count ?? 0
    text_count = report.labelTexts[index]
    let isKnown = report.precision.indices.contains(index)
    precision = isKnown ? report.precision[index] : .nan
    recall = isKnown ? report.recall[index] : .nan
    f1 = isKnown ? report.f1[index] : .nan
  }
}

@_cdecl("bertqa_training_report_free")
public func bertqa_training_report_free(_ report: OpaquePointer?) {
  TrainingReportHandle.release(report)
}

@_cdecl("bertqa_training_report_summary")
public func bertqa_training_report_summary(
  _ report: OpaquePointer?
) -> UnsafePointer<bertqa_training_summary>? {
  insideGate { TrainingReportHandle.borrowed(report)?.summary.base }
}

@_cdecl("bertqa_training_report_label_count")
public func bertqa_training_report_label_count(_ report: OpaquePointer?) -> Int {
  insideGate { TrainingReportHandle.borrowed(report)?.labels.count ?? 0 }
}

@_cdecl("bertqa_training_report_label_get")
public func bertqa_training_report_label_get(
  _ report: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_training_label>? {
  insideGate { TrainingReportHandle.borrowed(report)?.labels.pointer(at: index) }
}

@_cdecl("bertqa_training_report_confusion")
public func bertqa_training_report_confusion(
  _ report: OpaquePointer?, _ true_label: Int, _ predicted_label: Int
) -> Int {
  insideGate {
    guard let entries = TrainingReportHandle.borrowed(report)?.confusion else { return 0 }
    // The labels are sorted.
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      let entry = entries[middle]
      let order = (entry.trueLabel, entry.predictedLabel)
      if order == (true_label, predicted_label) { return entry.count }
      if order < (true_label, predicted_label) { low = middle + 1 } else { high = middle }
    }
    return 0
  }
}
