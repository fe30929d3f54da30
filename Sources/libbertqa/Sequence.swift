import BertQACore
import CBertQAHeader

/// A prediction and the C views of it.
final class PredictionHandle: Handle {
  let words: CArray<bertqa_word>
  let probabilities: CArray<Float>
  let isUnknown: Bool
  /// Owns what the words point to.
  private let prediction: Prediction

  init(_ prediction: Prediction) {
    self.prediction = prediction
    words = CArray(prediction.words.map { bertqa_word($0) })
    probabilities = CArray(prediction.probabilities)
    isUnknown = prediction.isUnknown
  }
}

extension bertqa_word {
  /// `text` is the word's own and lives as long.
  init(_ word: PredictedWord) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    let bytes = word.bytes
    text = bytes.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
    length = bytes.count
    id = word.id
    probability = word.probability
    log_probability = word.logProbability
  }
}

@c @implementation
public func bertqa_sequence_predict(
  _ context: OpaquePointer?, _ word: UnsafePointer<CChar>?, _ length: Int, _ state: OpaquePointer?,
  _ top_k: Int32, _ prediction: UnsafeMutablePointer<OpaquePointer?>?,
  _ next_state: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  prediction?.pointee = nil
  next_state?.pointee = nil
  return status { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let word = try textArgument(word, length, "word")
    let state = SequenceState.borrowed(state)
    let next: SequenceState
    if let prediction {
      let result = try context.predict(word: word, state: state, options: SequenceOptions(topK: Int(top_k)))
      prediction.pointee = PredictionHandle(result.prediction).passed()
      next = result.state
    } else {
      next = try context.read(word: word, state: state)
    }
    next_state?.pointee = next.passed()
  }
}

@c @implementation
public func bertqa_prediction_free(_ prediction: OpaquePointer?) {
  PredictionHandle.release(prediction)
}

@c @implementation
public func bertqa_prediction_count(_ prediction: OpaquePointer?) -> Int {
  PredictionHandle.borrowed(prediction)?.words.count ?? 0
}

@c @implementation
public func bertqa_prediction_get(
  _ prediction: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_word>? {
  PredictionHandle.borrowed(prediction)?.words.pointer(at: index)
}

@c @implementation
public func bertqa_prediction_is_unknown(_ prediction: OpaquePointer?) -> Int32 {
  PredictionHandle.borrowed(prediction)?.isUnknown == true ? 1 : 0
}

@c @implementation
public func bertqa_prediction_probabilities(_ prediction: OpaquePointer?) -> UnsafePointer<Float>? {
  PredictionHandle.borrowed(prediction)?.probabilities.base
}

@c @implementation
public func bertqa_sequence_step(
  _ context: OpaquePointer?, _ ids: UnsafePointer<Int32>?, _ states: UnsafePointer<OpaquePointer?>?,
  _ count: Int, _ next_states: UnsafeMutablePointer<OpaquePointer?>?,
  _ logits: UnsafeMutablePointer<Float>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    try passBatch(count, to: next_states, "next_states") { () throws(BertQAError) in
      let context = try ContextHandle.borrowed(context, "context").context
      let ids = UnsafeBufferPointer(start: try required(ids, "ids"), count: count)
      return try context.step(ids: ids, states: stateArguments(states, count), logits: logits)
    }
  }
}
