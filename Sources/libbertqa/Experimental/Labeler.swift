import BertQACore
import CBertQAHeader

/// A labeler for C callers.
final class LabelerHandle: Handle {
  let labeler: Labeler
  let labels: CStrings

  init(_ labeler: Labeler) throws(BertQAError) {
    self.labeler = labeler
    labels = try CStrings(labeler.labels)
  }
}

extension bertqa_labeler_options: COptions {
  static let name: StaticString = "bertqa_labeler_options"
  static var narrowFieldCount: Int { 2 }
}

private func labelerOptions(
  _ pointer: UnsafePointer<bertqa_labeler_options>?
) throws(BertQAError) -> LabelerOptions {
  let raw = try readOptions(pointer)
  let embed = try readOptions(raw.embed)
  guard embed.call == nil else {
    throw BertQAError(.invalidArgument, argument: "embed->call", "must be NULL; use call")
  }
  try checkReserved(raw.reserved)
  var options = LabelerOptions()
  options.scale = number(raw.scale, default: options.scale)
  options.embed = try embedOptions(embed)
  options.embed.call = try callOptions(raw.call)
  return options
}

@_cdecl("bertqa_labeler_create")
public func bertqa_labeler_create(
  _ context: OpaquePointer?, _ examples: UnsafePointer<bertqa_example>?, _ count: Int,
  _ options: UnsafePointer<bertqa_labeler_options>?, _ labeler: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(labeler, "labeler") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    try checkCount(count)
    let options = try labelerOptions(options)
    let read = try readItems(examples, count, "examples", options.embed.call) { example throws(BertQAError) in
      LabelExample(
        text: try textArgument(example.text, example.length, "text"),
        label: try labelArgument(example.label, example.label_length, "label"))
    }
    return try LabelerHandle(Labeler(context, examples: read, options: options))
  }
}

@_cdecl("bertqa_labeler_free")
public func bertqa_labeler_free(_ labeler: OpaquePointer?) {
  LabelerHandle.release(labeler)
}

@_cdecl("bertqa_labeler_label_count")
public func bertqa_labeler_label_count(_ labeler: OpaquePointer?) -> Int {
  insideGate { LabelerHandle.borrowed(labeler)?.labels.count ?? 0 }
}

@_cdecl("bertqa_labeler_label_get")
public func bertqa_labeler_label_get(
  _ labeler: OpaquePointer?, _ index: Int, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  insideGate { found(LabelerHandle.borrowed(labeler)?.labels, at: index, length) }
}

@_cdecl("bertqa_labeler_classify")
public func bertqa_labeler_classify(
  _ labeler: OpaquePointer?, _ texts: UnsafePointer<bertqa_text_pair>?, _ count: Int,
  _ call: UnsafePointer<bertqa_call_options>?,
  _ classifications: UnsafeMutablePointer<OpaquePointer?>?,
  _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  batchStatus(count, classifications, "classifications", statuses) { output throws(BertQAError) in
    let labeler = try LabelerHandle.borrowed(labeler, "labeler").labeler
    let call = try callOptions(call)
    try output.fill(from: texts, "texts", call, ClassificationHandle.init, textPair) {
      texts, call throws(BertQAError) in
      try labeler.classifyEach(texts, call: call)
    }
  }
}
