import BertQACore
import CBertQAHeader

extension bertqa_embed_options: COptions {
  static let name: StaticString = "bertqa_embed_options"
  static var narrowFieldCount: Int { 4 }
}

func embedOptions(_ raw: bertqa_embed_options) throws(BertQAError) -> EmbedOptions {
  var options = EmbedOptions()
  options.call = try callOptions(raw.call)
  if let name = raw.prompt_name?.pointee {
    options.promptName = try labelArgument(name.text, name.length, "prompt_name")
  }
  if let prompt = raw.prompt?.pointee {
    options.prompt = try string(of: textArgument(prompt.text, prompt.length, "prompt"))
  }
  options.pooling = try enumeration(raw.pooling, "pooling")
  options.normalizes = try switched(raw.normalize, "normalize")
  options.maxSequenceLength = number(raw.max_seq_len)
  options.truncates = try switched(raw.truncate, "truncate") ?? options.truncates
  return options
}

@_cdecl("bertqa_embed")
public func bertqa_embed(
  _ context: OpaquePointer?, _ texts: UnsafePointer<bertqa_text_pair>?, _ count: Int,
  _ options: UnsafePointer<bertqa_embed_options>?, _ embeddings: UnsafeMutablePointer<Float>?,
  _ embeddings_length: Int, _ statuses: UnsafeMutablePointer<bertqa_status>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try checkCount(count)
    try settingAll(statuses, count) { () throws(BertQAError) in
      let context = try ContextHandle.borrowed(context, "context").context
      var options = try embedOptions(readOptions(options))
      // BERTQA_MAX_BATCH vectors of the largest model's size are far below Int.max.
      let length = context.info.embeddingLength
      let room = count * length
      if length > 0 { try checkRoom(embeddings_length, room, "embeddings_length") }
      let target = UnsafeMutableBufferPointer(
        start: count > 0 ? try required(embeddings, "embeddings") : nil, count: room)
      var failures = BatchFailures(statuses, count, of: "texts", &options.call)
      let monitor = CallMonitor(options.call)
      let items = try readItems(texts, count, "texts", monitor, textPair) {
        error, index throws(BertQAError) in
        try failures.add(error, of: index)
        // Keeps the other vectors at their places.
        return TextPair(text: UnsafeBufferPointer(start: nil, count: 0))
      }
      let embeddingFailures = try context.embedEach(items, options: options, into: target)
      for index in 0..<count where failures.contains(index) {
        target[index * length..<(index + 1) * length].update(repeating: 0)
      }
      for (index, error) in embeddingFailures { try failures.add(error, of: index) }
      failures.setLastErrorToFirst()
    }
  }
}
