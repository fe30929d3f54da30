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
  options.labels = try labels(raw.labels, raw.label_count) ?? []
  if let thresholds = raw.thresholds {
    options.thresholds = Array(UnsafeBufferPointer(start: thresholds, count: options.labels.count))
  }
  options.ignoredLabels =
    try texts(raw.ignore_labels, raw.ignore_label_count, "ignore_labels", "ignore_label_count")
    ?? options.ignoredLabels
  options.aggregation = try enumeration(raw.aggregation, "aggregation")
  options.threshold = raw.threshold
  options.maxSequenceLength = number(raw.max_seq_len)
  options.documentStride = number(raw.doc_stride, none: -1)
  options.isNested = try switched(raw.nested, "nested") ?? false
  try checkReserved(raw.reserved)
  return options
}

/// Returns the labels that the caller wants; nil for NULL. An empty array, such as that of a filter that kept nothing,
/// is refused: it does not mean all labels.
func labels(_ pointer: UnsafePointer<bertqa_text>?, _ count: Int) throws(BertQAError) -> [String]? {
  let labels = try texts(pointer, count, "labels", "label_count")
  guard labels?.isEmpty != true else {
    throw BertQAError(
      .invalidArgument, argument: "labels", "has no element: pass at least one label, or NULL")
  }
  return labels
}

/// Returns the labels or codes of an array; nil for NULL.
func texts(
  _ pointer: UnsafePointer<bertqa_text>?, _ count: Int, _ name: StaticString, _ countName: StaticString
) throws(BertQAError) -> [String]? {
  guard let pointer else {
    guard count == 0 else {
      throw BertQAError(
        .invalidArgument, argument: "\(name)", "is NULL, but \(countName) is \(UInt(bitPattern: count))")
    }
    return nil
  }
  guard (0...textLimit).contains(count) else {
    throw BertQAError(
      .tooLarge, argument: "\(countName)",
      "is \(UInt(bitPattern: count)), but at most \(textLimit) are allowed")
  }
  return try readItems(pointer, count, name, CallOptions()) { text throws(BertQAError) in
    try labelArgument(text.text, text.length, "text")
  }
}

/// No model has more labels.
private let textLimit = 1 << 20

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
