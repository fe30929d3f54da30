import BertQACore
import CBertQAHeader

extension bertqa_classify_options: COptions {
  static let name: StaticString = "bertqa_classify_options"
  static var narrowFieldCount: Int { 6 }
}

func classifyOptions(
  _ pointer: UnsafePointer<bertqa_classify_options>?
) throws(BertQAError) -> ClassifyOptions {
  let raw = try readOptions(pointer)
  var options = ClassifyOptions()
  options.call = try callOptions(raw.call)
  options.contributions = Int(raw.contributions)
  options.maxSequenceLength = number(raw.max_seq_len)
  options.documentStride = number(raw.doc_stride, none: -1)
  options.windowPooling = try enumeration(raw.window_pooling, "window_pooling")
  options.minProbability = raw.min_probability
  options.labels = try labels(raw.labels, raw.label_count, options.call) ?? []
  if let template = raw.hypothesis_template {
    options.hypothesisTemplate = try labelArgument(
      template.pointee.text, template.pointee.length, "hypothesis_template")
  }
  options.allowsSeveralLabels = try switched(raw.multi_label, "multi_label") ?? false
  return options
}

@_cdecl("bertqa_classify")
public func bertqa_classify(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ options: UnsafePointer<bertqa_classify_options>?,
  _ classification: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(classification, "classification") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try classifyOptions(options)
    let bytes = try textArgument(text, length, "text")
    let result = try context.classify(TextPair(text: bytes), options: options)
    return try ClassificationHandle(result, CallMonitor(options.call))
  }
}

@_cdecl("bertqa_classify_batch")
public func bertqa_classify_batch(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text_pair>?, _ count: Int,
  _ options: UnsafePointer<bertqa_classify_options>?,
  _ classifications: UnsafeMutablePointer<OpaquePointer?>?,
  _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  batchStatus(count, classifications, "classifications", statuses) { output throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try classifyOptions(options)
    try output.fill(from: texts, "texts", options, ClassificationHandle.init, textPair) {
      texts, options throws(BertQAError) in
      try context.classifyEach(texts, options: options)
    }
  }
}
