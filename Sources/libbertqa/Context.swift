import BertQACore
import CBertQAHeader
import Glibc

/// A context and the C views of it that live as long.
final class ContextHandle: Handle {
  let context: Context
  let info: UnsafeMutablePointer<bertqa_model_info>
  let labels: [UnsafePointer<CChar>?]

  init(_ context: Context) {
    self.context = context
    let model = context.info
    var info = bertqa_model_info()
    info.struct_size = MemoryLayout<bertqa_model_info>.size
    info.directory = UnsafePointer(strdup(model.directory))
    info.architecture = UnsafePointer(strdup(model.architecture))
    info.precision = model.precision?.rawValue ?? 0
    info.isa = model.instructionSet?.rawValue ?? 0
    info.threads = Int32(clamping: model.threads)
    info.vocab_size = Int32(clamping: model.vocabularySize)
    info.hidden_size = Int32(clamping: model.hiddenSize)
    info.num_hidden_layers = Int32(clamping: model.layerCount)
    info.num_attention_heads = Int32(clamping: model.headCount)
    info.intermediate_size = Int32(clamping: model.intermediateSize)
    info.max_position_embeddings = Int32(clamping: model.maxPositions)
    info.lowercase = model.lowercase ? 1 : 0
    info.no_answer_threshold = model.noAnswerThreshold
    info.task = model.task?.rawValue ?? 0
    info.num_labels = Int32(clamping: model.labels.count)
    info.embedding_length = Int32(clamping: model.embeddingLength)
    info.state_length = Int32(clamping: model.stateLength)
    labels = model.labels.map { UnsafePointer(strdup($0)) }
    self.info = .allocate(capacity: 1)
    self.info.initialize(to: info)
  }

  deinit {
    for label in labels { free(UnsafeMutablePointer(mutating: label)) }
    free(UnsafeMutablePointer(mutating: info.pointee.directory))
    free(UnsafeMutablePointer(mutating: info.pointee.architecture))
    info.deallocate()
  }
}

private func defaultContextOptions() -> bertqa_context_options {
  var options = bertqa_context_options()
  options.struct_size = MemoryLayout<bertqa_context_options>.size
  options.default_model = ContextOptions().defaultModel.rawValue
  return options
}

@c @implementation
public func bertqa_context_options_init(
  _ options: UnsafeMutablePointer<bertqa_context_options>?, _ struct_size: Int
) {
  writeDefaults(defaultContextOptions(), to: options, size: struct_size)
}

@c @implementation
public func bertqa_context_create(
  _ model_directory: UnsafePointer<CChar>?, _ options: UnsafePointer<bertqa_context_options>?,
  _ context: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let out = try required(context, "context")
    out.pointee = nil
    let options = try readOptions(
      options, "bertqa_context_options", defaults: defaultContextOptions())
    var contextOptions = ContextOptions()
    contextOptions.threads = Int(options.threads)
    contextOptions.precision = try enumeration(options.precision, "bertqa_context_options.precision")
    contextOptions.instructionSet = try enumeration(options.isa, "bertqa_context_options.isa")
    contextOptions.defaultModel = try enumeration(
      options.default_model, "bertqa_context_options.default_model")
    contextOptions.tokenizerOnly = options.tokenizer_only != 0
    if let log = options.log {
      // The core calls this on the calling thread only, during this call.
      nonisolated(unsafe) let user = options.log_user
      contextOptions.log = { message in message.withCString { log(user, $0) } }
    }
    let directory = model_directory.map { String(cString: $0) }
    let created =
      if let directory {
        try Context(modelDirectory: directory, options: contextOptions)
      } else {
        try Context(defaultModelWithOptions: contextOptions)
      }
    out.pointee = ContextHandle(created).passed()
  }
}

@c @implementation
public func bertqa_context_free(_ context: OpaquePointer?) {
  ContextHandle.release(context)
}

@c @implementation
public func bertqa_context_info(_ context: OpaquePointer?) -> UnsafePointer<bertqa_model_info>? {
  ContextHandle.borrowed(context).map { UnsafePointer($0.info) }
}

@c @implementation
public func bertqa_context_label(_ context: OpaquePointer?, _ id: Int32) -> UnsafePointer<CChar>? {
  guard let labels = ContextHandle.borrowed(context)?.labels, labels.indices.contains(Int(id)) else {
    return nil
  }
  return labels[Int(id)]
}
