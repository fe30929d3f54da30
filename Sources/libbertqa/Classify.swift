import BertQACore
import CBertQAHeader
import Glibc

/// A classification and the C views of it.
final class ClassificationHandle: Handle {
  let scores: CArray<bertqa_label_score>
  let contributions: CArray<bertqa_contribution>
  let summary: CArray<bertqa_classify_summary>

  init(_ result: Classification) {
    scores = CArray(result.scores.map { bertqa_label_score($0) })
    contributions = CArray(result.contributions.map { bertqa_contribution($0) })
    summary = CArray([bertqa_classify_summary(result)])
  }

  deinit {
    for score in scores.elements { free(UnsafeMutablePointer(mutating: score.label)) }
  }
}

extension bertqa_label_score {
  /// `label` is to be freed.
  fileprivate init(_ score: LabelScore) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    label = UnsafePointer(strdup(score.label))
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
    not_enough_text = result.notEnoughText ? 1 : 0
    distinct_words = result.distinctWords
    window_count = result.windowCount
  }
}

private func defaultClassifyOptions() -> bertqa_classify_options {
  let defaults = ClassifyOptions()
  var options = bertqa_classify_options()
  options.struct_size = MemoryLayout<bertqa_classify_options>.size
  options.contributions = Int32(defaults.contributions)
  options.max_seq_len = Int32(defaults.maxSequenceLength)
  options.doc_stride = Int32(defaults.documentStride)
  options.window_pooling = defaults.windowPooling.rawValue
  return options
}

func classifyOptions(
  _ pointer: UnsafePointer<bertqa_classify_options>?
) throws(BertQAError) -> ClassifyOptions {
  let raw = try readOptions(pointer, "bertqa_classify_options", defaults: defaultClassifyOptions())
  var options = ClassifyOptions()
  options.contributions = Int(raw.contributions)
  options.maxSequenceLength = Int(raw.max_seq_len)
  options.documentStride = Int(raw.doc_stride)
  options.windowPooling = try enumeration(raw.window_pooling, "bertqa_classify_options.window_pooling")
  options.cancellation = cancellation(raw.cancel, raw.cancel_user)
  return options
}

@c @implementation
public func bertqa_classify_options_init(
  _ options: UnsafeMutablePointer<bertqa_classify_options>?, _ struct_size: Int
) {
  writeDefaults(defaultClassifyOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_classify(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ options: UnsafePointer<bertqa_classify_options>?,
  _ classification: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(classification, "classification")
    out.pointee = nil
    let handle = try ContextHandle.borrowed(context, "context")
    let bytes = try textArgument(text, length, "text")
    let result = try handle.context.classify(
      TextPair(text: bytes), options: try classifyOptions(options))
    out.pointee = ClassificationHandle(result).passed()
  }
}

@c @implementation
public func bertqa_classify_batch(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text>?, _ count: Int,
  _ options: UnsafePointer<bertqa_classify_options>?,
  _ classifications: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try passBatch(count, to: classifications, "classifications") { () throws(BertQAError) in
      let handle = try ContextHandle.borrowed(context, "context")
      let options = try classifyOptions(options)
      return try handle.context.classify(try textArguments(texts, count, "texts"), options: options)
        .map { ClassificationHandle($0) }
    }
  }
}

@c @implementation
public func bertqa_classification_free(_ classification: OpaquePointer?) {
  ClassificationHandle.release(classification)
}

@c @implementation
public func bertqa_classification_count(_ classification: OpaquePointer?) -> Int {
  ClassificationHandle.borrowed(classification)?.scores.count ?? 0
}

@c @implementation
public func bertqa_classification_get(
  _ classification: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_label_score>? {
  ClassificationHandle.borrowed(classification)?.scores.pointer(at: index)
}

@c @implementation
public func bertqa_classification_contributions_count(_ classification: OpaquePointer?) -> Int {
  ClassificationHandle.borrowed(classification)?.contributions.count ?? 0
}

@c @implementation
public func bertqa_classification_contribution(
  _ classification: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_contribution>? {
  ClassificationHandle.borrowed(classification)?.contributions.pointer(at: index)
}

@c @implementation
public func bertqa_classification_summary(
  _ classification: OpaquePointer?
) -> UnsafePointer<bertqa_classify_summary>? {
  ClassificationHandle.borrowed(classification)?.summary.base
}
