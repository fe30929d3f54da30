import BertQACore
import CBertQAHeader

private func defaultEmbedOptions() -> bertqa_embed_options {
  let defaults = EmbedOptions()
  var options = bertqa_embed_options()
  options.struct_size = MemoryLayout<bertqa_embed_options>.size
  options.pooling = defaults.pooling.rawValue
  options.normalize = -1
  options.max_seq_len = Int32(defaults.maxSequenceLength)
  options.truncate = defaults.truncates ? 1 : 0
  return options
}

func embedOptions(
  _ pointer: UnsafePointer<bertqa_embed_options>?
) throws(BertQAError) -> EmbedOptions {
  let raw = try readOptions(pointer, "bertqa_embed_options", defaults: defaultEmbedOptions())
  var options = EmbedOptions()
  options.pooling = try enumeration(raw.pooling, "bertqa_embed_options.pooling")
  switch raw.normalize {
  case -1: options.normalizes = nil
  case 0, 1: options.normalizes = raw.normalize == 1
  default:
    throw BertQAError(
      .invalidArgument, "bertqa_embed_options.normalize is \(raw.normalize), but must be -1, 0 or 1")
  }
  options.maxSequenceLength = Int(raw.max_seq_len)
  options.truncates = raw.truncate != 0
  options.cancellation = cancellation(raw.cancel, raw.cancel_user)
  return options
}

@c @implementation
public func bertqa_embed_options_init(
  _ options: UnsafeMutablePointer<bertqa_embed_options>?, _ struct_size: Int
) {
  writeDefaults(defaultEmbedOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_embed(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text>?, _ count: Int,
  _ options: UnsafePointer<bertqa_embed_options>?, _ embeddings: UnsafeMutablePointer<Float>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    try checkCount(count)
    let options = try embedOptions(options)
    let texts = try textArguments(texts, count, "texts")
    let embeddings = count > 0 ? try required(embeddings, "embeddings") : nil
    // BERTQA_MAX_BATCH vectors of the largest model's size are far below Int.max.
    try context.embed(
      texts, options: options,
      into: UnsafeMutableBufferPointer(
        start: embeddings, count: count * context.info.embeddingLength))
  }
}
