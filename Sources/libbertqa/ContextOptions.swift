import BertQACore
import CBertQA
import CBertQAHeader

extension bertqa_context_options: COptions {
  static let name: StaticString = "bertqa_context_options"
  static var narrowFieldCount: Int { 6 }
}

func contextOptions(
  _ pointer: UnsafePointer<bertqa_context_options>?
) throws(BertQAError) -> ContextOptions {
  let raw = try readOptions(pointer)
  var options = ContextOptions()
  options.call = try callOptions(raw.call)
  options.threads = Int(raw.threads)
  options.precision = try enumeration(raw.precision, "precision")
  options.instructionSet = try enumeration(raw.isa, "isa")
  options.tokenizerOnly = try switched(raw.tokenizer_only, "tokenizer_only") ?? false
  if raw.default_model != 0 {
    options.defaultModel = try enumeration(raw.default_model, "default_model")
  }
  options.load = try enumeration(raw.load, "load")
  if let log = raw.log {
    // The core calls this on the calling thread only, during this call.
    nonisolated(unsafe) let user = raw.log_user
    options.log = { message in message.withCString { text in outsideGate { log(user, text) } } }
  }
  return options
}

@_cdecl("bertqa_precision_name")
public func bertqa_precision_name(_ precision: bertqa_precision) -> UnsafePointer<CChar>? {
  staticCString(Precision(rawValue: precision)?.name ?? "unknown")
}

@_cdecl("bertqa_isa_name")
public func bertqa_isa_name(_ isa: bertqa_isa) -> UnsafePointer<CChar>? {
  bq_isa_name(isa) ?? staticCString("unknown")
}

@_cdecl("bertqa_task_name")
public func bertqa_task_name(_ task: bertqa_task) -> UnsafePointer<CChar>? {
  staticCString(ModelTask(rawValue: task)?.name ?? "unknown")
}
