import BertQACore
import CBertQAHeader

/// A labeler for C callers.
final class LabelerHandle: Handle {
  let labeler: Labeler

  init(_ labeler: Labeler) { self.labeler = labeler }
}

private func defaultLabelerOptions() -> bertqa_labeler_options {
  var options = bertqa_labeler_options()
  options.struct_size = MemoryLayout<bertqa_labeler_options>.size
  options.scale = LabelerOptions().scale
  return options
}

/// An array of examples; `count` was checked.
private func exampleArguments(
  _ examples: UnsafePointer<bertqa_example>?, _ count: Int
) throws(BertQAError) -> [LabelExample] {
  guard count > 0 else { return [] }
  let examples = try required(examples, "examples")
  var result: [LabelExample] = []
  result.reserveCapacity(count)
  for (index, example) in UnsafeBufferPointer(start: examples, count: count).enumerated() {
    let label = try textArgument(example.label, example.label_length, "examples[\(index)].label")
    result.append(
      LabelExample(
        text: try textArgument(example.text, example.length, "examples[\(index)].text"),
        label: String(decoding: label, as: UTF8.self)))
  }
  return result
}

@c @implementation
public func bertqa_labeler_options_init(
  _ options: UnsafeMutablePointer<bertqa_labeler_options>?, _ struct_size: Int
) {
  writeDefaults(defaultLabelerOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_labeler_create(
  _ context: OpaquePointer?, _ examples: UnsafePointer<bertqa_example>?, _ count: Int,
  _ options: UnsafePointer<bertqa_labeler_options>?, _ labeler: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(labeler, "labeler")
    out.pointee = nil
    let handle = try ContextHandle.borrowed(context, "context")
    try checkCount(count)
    let raw = try readOptions(options, "bertqa_labeler_options", defaults: defaultLabelerOptions())
    var options = LabelerOptions()
    options.scale = raw.scale
    options.embed = try embedOptions(raw.embed)
    out.pointee = LabelerHandle(
      try Labeler(handle.context, examples: try exampleArguments(examples, count), options: options)
    ).passed()
  }
}

@c @implementation
public func bertqa_labeler_free(_ labeler: OpaquePointer?) {
  LabelerHandle.release(labeler)
}

@c @implementation
public func bertqa_labeler_classify(
  _ labeler: OpaquePointer?, _ texts: UnsafePointer<bertqa_text>?, _ count: Int,
  _ classifications: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try passBatch(count, to: classifications, "classifications") { () throws(BertQAError) in
      let handle = try LabelerHandle.borrowed(labeler, "labeler")
      return try handle.labeler.classify(try textArguments(texts, count, "texts"))
        .map { ClassificationHandle($0) }
    }
  }
}
