import BertQACore
import CBertQAHeader

extension bertqa_call_options: COptions {
  static let name: StaticString = "bertqa_call_options"
  static var narrowFieldCount: Int { 0 }
}

@_cdecl("bertqa_deadline_after")
public func bertqa_deadline_after(_ nanoseconds: UInt64) -> UInt64 {
  CallOptions.deadline(after: nanoseconds)
}

/// Returns the options of a call; NULL: the defaults.
func callOptions(_ pointer: UnsafePointer<bertqa_call_options>?) throws(BertQAError) -> CallOptions {
  let raw = try readOptions(pointer)
  var options = CallOptions()
  // The core calls hooks on the calling thread only, during this call.
  nonisolated(unsafe) let user = raw.user
  if let cancel = raw.cancel { options.cancellation = Cancellation { outsideGate { cancel(user) } != 0 } }
  if let progress = raw.progress {
    options.progress = { done, total in
      let fraction = total > 0 ? Double(done) / Double(total) : 0
      outsideGate { progress(user, staticCString("windows"), fraction) }
    }
  }
  options.deadline = raw.deadline_ns
  options.maxBytes = Int(clamping: raw.max_bytes)
  // Results that this layer makes count with the memory that the core holds for the call.
  options.ledger = MemoryLedger(limit: options.maxBytes)
  options.maxDocumentTokens = Int(clamping: raw.max_document_tokens)
  return options
}
