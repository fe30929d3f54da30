import BertQACore
import CBertQAHeader

/// A classification and its C views.
final class ClassificationHandle: Handle {
  let scores: CArray<bertqa_label_score>
  let contributions: CArray<bertqa_contribution>
  let summary: CArray<bertqa_classify_summary>
  /// The storage of the scores' labels.
  private let labels: CStrings

  init(_ result: Classification, _ monitor: CallMonitor) throws(BertQAError) {
    let labels = try CStrings(result.scores.lazy.map(\.label), monitor)
    self.labels = labels
    scores = try CArray(count: result.scores.count, monitor) {
      bertqa_label_score(result.scores[$0], labels.string(at: $0))
    }
    contributions = try CArray(count: result.contributions.count, monitor) {
      bertqa_contribution(result.contributions[$0])
    }
    summary = try CArray([bertqa_classify_summary(result)])
  }
}

extension bertqa_label_score {
  fileprivate init(_ score: LabelScore, _ label: (base: UnsafePointer<CChar>, count: Int)?) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    self.label = label?.base
    label_length = label?.count ?? 0
    id = Int32(clamping: score.id)
    probability = score.probability
    logit = score.logit
  }
}

extension bertqa_contribution {
  fileprivate init(_ contribution: WordContribution) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    bytes = bertqa_range(contribution.bytes)
    code_points = bertqa_range(contribution.codePoints)
    utf16 = bertqa_range(contribution.utf16)
    weight = contribution.weight
  }
}

extension bertqa_classify_summary {
  fileprivate init(_ result: Classification) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    problem_type = result.problemType.rawValue
    is_too_short = result.notEnoughText ? 1 : 0
    distinct_word_count = result.distinctWords
    window_count = result.windowCount
    is_none = result.isNone ? 1 : 0
  }
}

@_cdecl("bertqa_classification_free")
public func bertqa_classification_free(_ classification: OpaquePointer?) {
  ClassificationHandle.release(classification)
}

@_cdecl("bertqa_classification_count")
public func bertqa_classification_count(_ classification: OpaquePointer?) -> Int {
  insideGate { ClassificationHandle.borrowed(classification)?.scores.count ?? 0 }
}

@_cdecl("bertqa_classification_get")
public func bertqa_classification_get(
  _ classification: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_label_score>? {
  insideGate { ClassificationHandle.borrowed(classification)?.scores.pointer(at: index) }
}

@_cdecl("bertqa_classification_contribution_count")
public func bertqa_classification_contribution_count(_ classification: OpaquePointer?) -> Int {
  insideGate { ClassificationHandle.borrowed(classification)?.contributions.count ?? 0 }
}

@_cdecl("bertqa_classification_contribution_get")
public func bertqa_classification_contribution_get(
  _ classification: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_contribution>? {
  insideGate { ClassificationHandle.borrowed(classification)?.contributions.pointer(at: index) }
}

@_cdecl("bertqa_classification_summary")
public func bertqa_classification_summary(
  _ classification: OpaquePointer?
) -> UnsafePointer<bertqa_classify_summary>? {
  insideGate { ClassificationHandle.borrowed(classification)?.summary.base }
}
