import BertQACore
import CBertQAHeader

/// A generation and its C views.
final class GenerationHandle: Handle {
  let generation: Generation
  let words: CArray<bertqa_word>
  let text: CString

  init(_ generation: Generation, _ monitor: CallMonitor) throws(BertQAError) {
    self.generation = generation
    words = try CArray(count: generation.words.count, monitor) { bertqa_word(generation.words[$0]) }
    try monitor.holdResult(generation.text.utf8.count, of: UInt8.self)
    text = CString(generation.text)
  }
}

extension bertqa_generate_options: COptions {
  static let name: StaticString = "bertqa_generate_options"
  static var narrowFieldCount: Int { 4 }
}

private func generateOptions(
  _ pointer: UnsafePointer<bertqa_generate_options>?
) throws(BertQAError) -> GenerateOptions {
  let raw = try readOptions(pointer)
  var options = GenerateOptions()
  options.call = try callOptions(raw.call)
  options.maxWords = number(raw.max_words, default: options.maxWords)
  options.temperature = raw.temperature
  options.topK = Int(raw.top_k)
  options.topP = number(raw.top_p, default: options.topP)
  options.seed = raw.seed
  if let hook = raw.on_word {
    options.onWord = { word in
      withUnsafePointer(to: bertqa_word(word)) { word in outsideGate { hook(raw.on_word_user, word) } == 0 }
    }
  }
  return options
}

@_cdecl("bertqa_sequence_generate")
public func bertqa_sequence_generate(
  _ context: OpaquePointer?, _ prompt: UnsafePointer<CChar>?, _ length: Int, _ state: OpaquePointer?,
  _ options: UnsafePointer<bertqa_generate_options>?,
  _ generation: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(generation, "generation") { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let prompt = try textArgument(prompt, length, "prompt")
    let options = try generateOptions(options)
    let result = try context.generate(
      prompt: prompt, state: SequenceState.borrowed(state), options: options)
    return try GenerationHandle(result, CallMonitor(options.call))
  }
}

@_cdecl("bertqa_generation_free")
public func bertqa_generation_free(_ generation: OpaquePointer?) {
  GenerationHandle.release(generation)
}

@_cdecl("bertqa_generation_count")
public func bertqa_generation_count(_ generation: OpaquePointer?) -> Int {
  insideGate { GenerationHandle.borrowed(generation)?.words.count ?? 0 }
}

@_cdecl("bertqa_generation_get")
public func bertqa_generation_get(
  _ generation: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_word>? {
  insideGate { GenerationHandle.borrowed(generation)?.words.pointer(at: index) }
}

@_cdecl("bertqa_generation_text")
public func bertqa_generation_text(
  _ generation: OpaquePointer?, _ length: UnsafeMutablePointer<Int>?
) -> UnsafePointer<CChar>? {
  length?.pointee = 0
  return insideGate {
    guard let text = GenerationHandle.borrowed(generation)?.text else { return nil }
    length?.pointee = text.count
    return text.pointer
  }
}

@_cdecl("bertqa_generation_stop")
public func bertqa_generation_stop(_ generation: OpaquePointer?) -> bertqa_stop {
  insideGate { GenerationHandle.borrowed(generation)?.generation.stop.rawValue ?? 0 }
}

@_cdecl("bertqa_generation_unknown_count")
public func bertqa_generation_unknown_count(_ generation: OpaquePointer?) -> Int {
  insideGate { GenerationHandle.borrowed(generation)?.generation.unknownCount ?? 0 }
}

@_cdecl("bertqa_generation_state")
public func bertqa_generation_state(_ generation: OpaquePointer?) -> OpaquePointer? {
  insideGate {
    GenerationHandle.borrowed(generation).map { handle in
      OpaquePointer(Unmanaged.passUnretained(handle.generation.state).toOpaque())
    }
  }
}
