import BertQACore
import CBertQAHeader

extension bertqa_sequence_options: COptions {
  static let name: StaticString = "bertqa_sequence_options"
  static var narrowFieldCount: Int { 2 }
}

func sequenceOptions(
  _ pointer: UnsafePointer<bertqa_sequence_options>?
) throws(BertQAError) -> SequenceOptions {
  let raw = try readOptions(pointer)
  var options = SequenceOptions()
  options.call = try callOptions(raw.call)
  options.topK = number(raw.top_k, default: options.topK)
  options.includesEnd = try switched(raw.include_end, "include_end") ?? options.includesEnd
  return options
}

/// What a call reads.
private enum Reading { case word, text }

/// Reads a word or a text, and predicts the next word if `prediction` is not NULL.
private func read(
  _ reading: Reading, _ text: UnsafePointer<CChar>?, _ length: Int, _ context: OpaquePointer?,
  _ state: OpaquePointer?, _ options: UnsafePointer<bertqa_sequence_options>?,
  _ prediction: UnsafeMutablePointer<OpaquePointer?>?, _ next_state: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  prediction?.pointee = nil
  next_state?.pointee = nil
  return status { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try sequenceOptions(options)
    let text = try textArgument(text, length, reading == .word ? "word" : "text")
    let state = SequenceState.borrowed(state)
    let next: SequenceState
    if let prediction {
      let result =
        switch reading {
        case .word: try context.predict(word: text, state: state, options: options)
        case .text: try context.predict(after: text, state: state, options: options)
        }
      prediction.pointee = try PredictionHandle(result.prediction).passed()
      next = result.state
    } else {
      next =
        switch reading {
        case .word: try context.read(word: text, state: state, options: options)
        case .text: try context.read(text: text, state: state, options: options)
        }
    }
    next_state?.pointee = next.passed()
  }
}

@_cdecl("bertqa_sequence_predict")
public func bertqa_sequence_predict(
  _ context: OpaquePointer?, _ word: UnsafePointer<CChar>?, _ length: Int, _ state: OpaquePointer?,
  _ options: UnsafePointer<bertqa_sequence_options>?,
  _ prediction: UnsafeMutablePointer<OpaquePointer?>?,
  _ next_state: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  read(.word, word, length, context, state, options, prediction, next_state)
}

@_cdecl("bertqa_sequence_predict_text")
public func bertqa_sequence_predict_text(
  _ context: OpaquePointer?, _ text: UnsafePointer<CChar>?, _ length: Int, _ state: OpaquePointer?,
  _ options: UnsafePointer<bertqa_sequence_options>?,
  _ prediction: UnsafeMutablePointer<OpaquePointer?>?,
  _ next_state: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  read(.text, text, length, context, state, options, prediction, next_state)
}

@_cdecl("bertqa_sequence_step")
public func bertqa_sequence_step(
  _ context: OpaquePointer?, _ ids: UnsafePointer<Int32>?, _ states: UnsafePointer<OpaquePointer?>?,
  _ count: Int, _ options: UnsafePointer<bertqa_sequence_options>?,
  _ next_states: UnsafeMutablePointer<OpaquePointer?>?, _ logits: UnsafeMutablePointer<Float>?,
  _ logits_length: Int
) -> bertqa_status {
  status { () throws(BertQAError) in
    try checkCount(count)
    let context = try ContextHandle.borrowed(context, "context").context
    let options = try sequenceOptions(options)
    guard count > 0 else {
      _ = try context.step(ids: UnsafeBufferPointer(start: nil, count: 0), states: [], options: options)
      return
    }
    let out = try required(next_states, "next_states")
    out.update(repeating: nil, count: count)
    try checkRoom(
      logits_length, logits == nil ? 0 : count * context.info.vocabularySize, "logits_length")
    let next = try context.step(
      ids: UnsafeBufferPointer(start: required(ids, "ids"), count: count),
      states: stateArguments(states, count, options.call), logits: logits, options: options)
    for (index, state) in next.enumerated() { out[index] = state.passed() }
  }
}
