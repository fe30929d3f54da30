import BertQACore
import CBertQAHeader

final class TokensHandle: Handle {
  let ids: CArray<Int32>
  let ranges: CArray<bertqa_range>

  init(_ tokens: Tokens, _ monitor: CallMonitor) throws(BertQAError) {
    let (starts, ends) = (tokens.starts, tokens.ends)
    ids = try CArray(count: tokens.count, monitor) { tokens.ids[$0] }
    ranges = try CArray(count: tokens.count, monitor) {
      bertqa_range(start: Int(starts[$0]), end: Int(ends[$0]))
    }
  }
}

extension bertqa_tokenize_options: COptions {
  static let name: StaticString = "bertqa_tokenize_options"
  static var narrowFieldCount: Int { 2 }
}

@_cdecl("bertqa_tokenize")
public func bertqa_tokenize(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ options: UnsafePointer<bertqa_tokenize_options>?,
  _ tokens: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(tokens, "tokens") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try readOptions(options)
    try checkReserved(options.reserved)
    let bytes = try textArgument(text, length, "text")
    let call = try callOptions(options.call)
    let result = try context.tokenize(
      bytes,
      parseSpecialTokens: switched(options.parse_special_tokens, "parse_special_tokens") ?? false,
      call: call)
    return try TokensHandle(result, CallMonitor(call))
  }
}

@_cdecl("bertqa_tokens_free")
public func bertqa_tokens_free(_ tokens: OpaquePointer?) {
  TokensHandle.release(tokens)
}

@_cdecl("bertqa_tokens_count")
public func bertqa_tokens_count(_ tokens: OpaquePointer?) -> Int {
  insideGate { TokensHandle.borrowed(tokens)?.ids.count ?? 0 }
}

@_cdecl("bertqa_tokens_ids")
public func bertqa_tokens_ids(_ tokens: OpaquePointer?) -> UnsafePointer<Int32>? {
  insideGate { TokensHandle.borrowed(tokens)?.ids.base }
}

@_cdecl("bertqa_tokens_ranges")
public func bertqa_tokens_ranges(_ tokens: OpaquePointer?) -> UnsafePointer<bertqa_range>? {
  insideGate { TokensHandle.borrowed(tokens)?.ranges.base }
}
