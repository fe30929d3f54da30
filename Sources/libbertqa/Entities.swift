import BertQACore
import CBertQAHeader

extension bertqa_entities_options: COptions {
  static let name: StaticString = "bertqa_entities_options"
  static var narrowFieldCount: Int { 6 }
}

func entityOptions(
  _ pointer: UnsafePointer<bertqa_entities_options>?
) throws(BertQAError) -> EntityOptions {
  let raw = try readOptions(pointer)
  var options = EntityOptions()
  options.call = try callOptions(raw.call)
  options.labels = try labels(raw.labels, raw.label_count, options.call) ?? []
  if let thresholds = raw.thresholds {
    guard !options.labels.isEmpty else {
      throw BertQAError(.invalidArgument, argument: "thresholds", "are set, but labels is NULL")
    }
    options.thresholds = Array(UnsafeBufferPointer(start: thresholds, count: options.labels.count))
  }
  options.ignoredLabels =
    try texts(raw.ignore_labels, raw.ignore_label_count, "ignore_labels", "ignore_label_count", options.call)
    ?? options.ignoredLabels
  options.aggregation = try enumeration(raw.aggregation, "aggregation")
  options.threshold = raw.threshold
  options.maxSequenceLength = number(raw.max_seq_len)
  options.documentStride = number(raw.doc_stride, none: -1)
  options.isNested = try switched(raw.nested, "nested") ?? false
  try checkReserved(raw.reserved)
  return options
}

@_cdecl("bertqa_entities")
public func bertqa_entities(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ options: UnsafePointer<bertqa_entities_options>?, _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(list, "list") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try entityOptions(options)
    let bytes = try textArgument(text, length, "text")
    let list = try context.entities(of: bytes, options: options)
    return try EntityListHandle(list, CallMonitor(options.call))
  }
}

@_cdecl("bertqa_entities_batch")
public func bertqa_entities_batch(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text>?, _ count: Int,
  _ options: UnsafePointer<bertqa_entities_options>?, _ lists: UnsafeMutablePointer<OpaquePointer?>?,
  _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  batchStatus(count, lists, "lists", statuses) { output throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try entityOptions(options)
    try output.fill(from: texts, "texts", options, EntityListHandle.init) { text throws(BertQAError) in
      try textArgument(text.text, text.length, "text")
    } each: { texts, options throws(BertQAError) in
      try context.entitiesEach(of: texts, options: options)
    }
  }
}
