import BertQACore
import CBertQAHeader

extension bertqa_embed_options: COptions {
  static let name: StaticString = "bertqa_embed_options"
}

@c @implementation
public func bertqa_embed_options_init(
  _ options: UnsafeMutablePointer<bertqa_embed_options>?, _ struct_size: Int
) {
  writeDefaults(to: options, size: struct_size)
}

func embedOptions(_ raw: bertqa_embed_options) throws(BertQAError) -> EmbedOptions {
  var options = EmbedOptions()
  options.call = try callOptions(raw.call)
  options.pooling = try enumeration(raw.pooling, "pooling")
  options.normalizes = try switched(raw.normalize, "normalize")
  options.maxSequenceLength = Int(raw.max_seq_len)
  options.truncates = try switched(raw.truncate, "truncate") ?? options.truncates
  return options
}

@c @implementation
public func bertqa_embed(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text_pair>?, _ count: Int,
  _ options: UnsafePointer<bertqa_embed_options>?, _ embeddings: UnsafeMutablePointer<Float>?,
  _ embeddings_length: Int, _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try checkCount(count)
    try settingAll(statuses, count) { () throws(BertQAError) in
      let context = try ContextHandle.borrowed(context, "context").context
      let options = try embedOptions(readOptions(options))
      // BERTQA_MAX_BATCH vectors of the largest model's size are far below Int.max.
      let length = context.info.embeddingLength
      if length > 0 { try checkRoom(embeddings_length, count * length, "embeddings_length") }
      let target = UnsafeMutableBufferPointer(
        start: count > 0 ? try required(embeddings, "embeddings") : nil, count: count * length)
      let texts = count > 0 ? try required(texts, "texts") : nil
      func text(_ index: Int) throws(BertQAError) -> TextPair {
        guard let texts else { throw BertQAError(.internal, "a text of an empty batch") }
        return try textPair(texts[index])
      }
      guard let statuses else {
        let read = try BatchItems(count, in: "texts", keepsFailures: false, text)
        return try context.embed(read.items, options: options, into: target)
      }
      target.update(repeating: 0)
      try fillStatuses(count, statuses, from: "texts", text) { texts throws(BertQAError) in
        try context.embedEach(texts, options: options)
      } take: { index, vector in
        vector.withUnsafeBufferPointer { vector in
          guard let source = vector.baseAddress, let base = target.baseAddress else { return }
          (base + index * length).update(from: source, count: min(length, vector.count))
        }
      }
    }
  }
}
