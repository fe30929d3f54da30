import BertQACore
import CBertQAHeader

extension bertqa_model_info {
  init(_ model: ModelInfo, directory: UnsafePointer<CChar>, architecture: UnsafePointer<CChar>) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    self.directory = directory
    self.architecture = architecture
    vocabulary_size = model.vocabularySize
    label_count = model.labels.count
    embedding_length = model.embeddingLength
    hidden_size = model.hiddenSize
    num_hidden_layers = model.layerCount
    num_attention_heads = model.headCount
    intermediate_size = model.intermediateSize
    max_position_embeddings = model.maxPositions
    task = model.task?.rawValue ?? 0
    precision = model.precision?.rawValue ?? 0
    isa = model.instructionSet?.rawValue ?? 0
    threads = Int32(clamping: model.threads)
    is_lowercase = model.lowercase ? 1 : 0
    no_answer_threshold = model.noAnswerThreshold
    prompt_count = model.embedding?.prompts.count ?? 0
  }
}

@_cdecl("bertqa_context_info")
public func bertqa_context_info(_ context: OpaquePointer?) -> UnsafePointer<bertqa_model_info>? {
  insideGate { ContextHandle.borrowed(context)?.info.base }
}

@_cdecl("bertqa_context_label_get")
public func bertqa_context_label_get(
  _ context: OpaquePointer?, _ id: Int32, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  insideGate { found(ContextHandle.borrowed(context)?.labels, at: Int(id), length) }
}

@_cdecl("bertqa_context_prompt_name_get")
public func bertqa_context_prompt_name_get(
  _ context: OpaquePointer?, _ index: Int, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  insideGate { found(ContextHandle.borrowed(context)?.promptNames, at: index, length) }
}

@_cdecl("bertqa_context_prompt_get")
public func bertqa_context_prompt_get(
  _ context: OpaquePointer?, _ index: Int, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  insideGate { found(ContextHandle.borrowed(context)?.prompts, at: index, length) }
}

/// Returns a name and sets its length; nil and 0 if there is none.
func found(
  _ names: CStrings?, at index: Int, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  let name = names?.string(at: index)
  length?.pointee = name?.count ?? 0
  return name?.base
}

@_cdecl("bertqa_context_vocabulary_piece")
public func bertqa_context_vocabulary_piece(
  _ context: OpaquePointer?, _ id: Int32, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  length?.pointee = 0
  let found = insideGate { ContextHandle.borrowed(context)?.context.vocabularyPiece(id: id) }
  guard let piece = found, let start = piece.baseAddress else { return nil }
  length?.pointee = piece.count
  return UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
}

@_cdecl("bertqa_context_vocabulary_id")
public func bertqa_context_vocabulary_id(
  _ context: OpaquePointer?, _ piece: UnsafePointer<CChar>?, _ length: Int
) -> Int32 {
  insideGate {
    guard let context = ContextHandle.borrowed(context)?.context,
      let bytes = try? textArgument(piece, length, "piece")
    else { return -1 }
    return context.vocabularyID(of: bytes) ?? -1
  }
}
