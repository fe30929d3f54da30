import BertQACore
import CBertQAHeader

final class TokensHandle: Handle {
  let ids: CArray<Int32>
  let starts: CArray<UInt32>
  let ends: CArray<UInt32>

  init(_ tokens: Tokens) {
    ids = CArray(tokens.ids)
    starts = CArray(tokens.starts)
    ends = CArray(tokens.ends)
  }
}

private func defaultTokenizeOptions() -> bertqa_tokenize_options {
  var options = bertqa_tokenize_options()
  options.struct_size = MemoryLayout<bertqa_tokenize_options>.size
  return options
}

@c @implementation
public func bertqa_tokenize_options_init(
  _ options: UnsafeMutablePointer<bertqa_tokenize_options>?, _ struct_size: Int
) {
  writeDefaults(defaultTokenizeOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_tokenize(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ options: UnsafePointer<bertqa_tokenize_options>?,
  _ tokens: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(tokens, "tokens")
    out.pointee = nil
    let handle = try ContextHandle.borrowed(context, "context")
    let options = try readOptions(
      options, "bertqa_tokenize_options", defaults: defaultTokenizeOptions())
    let bytes = try textArgument(text, length, "text")
    let result = try handle.context.tokenize(
      bytes, parseSpecialTokens: options.parse_special_tokens != 0)
    out.pointee = TokensHandle(result).passed()
  }
}

@c @implementation
public func bertqa_tokens_free(_ tokens: OpaquePointer?) {
  TokensHandle.release(tokens)
}

@c @implementation
public func bertqa_tokens_count(_ tokens: OpaquePointer?) -> Int {
  TokensHandle.borrowed(tokens)?.ids.count ?? 0
}

@c @implementation
public func bertqa_tokens_ids(_ tokens: OpaquePointer?) -> UnsafePointer<Int32>? {
  TokensHandle.borrowed(tokens)?.ids.base
}

@c @implementation
public func bertqa_tokens_starts(_ tokens: OpaquePointer?) -> UnsafePointer<UInt32>? {
  TokensHandle.borrowed(tokens)?.starts.base
}

@c @implementation
public func bertqa_tokens_ends(_ tokens: OpaquePointer?) -> UnsafePointer<UInt32>? {
  TokensHandle.borrowed(tokens)?.ends.base
}

@c @implementation
public func bertqa_vocabulary_piece(
  _ context: OpaquePointer?, _ id: Int32, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  length?.pointee = 0
  guard let piece = ContextHandle.borrowed(context)?.context.vocabularyPiece(id: id),
    let start = piece.baseAddress
  else { return nil }
  length?.pointee = piece.count
  return UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
}

@c @implementation
public func bertqa_vocabulary_id(
  _ context: OpaquePointer?, _ piece: UnsafePointer<CChar>?, _ length: Int
) -> Int32 {
  guard let context = ContextHandle.borrowed(context)?.context,
    let bytes = try? textArgument(piece, length, "piece")
  else { return -1 }
  return context.vocabularyID(of: bytes) ?? -1
}
