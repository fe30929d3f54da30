import BertQACore
import CBertQAHeader

/// A prediction and its C views.
final class PredictionHandle: Handle {
  let words: CArray<bertqa_word>
  let probabilities: CArray<Float>
  let isUnknown: Bool
  /// Owns the memory that the words point to.
  private let prediction: Prediction

  init(_ prediction: Prediction) throws(BertQAError) {
    self.prediction = prediction
    words = try CArray(prediction.words.lazy.map { bertqa_word($0) })
    probabilities = try CArray(prediction.probabilities)
    isUnknown = prediction.isUnknown
  }
}

extension bertqa_word {
  /// The word owns the memory that `text` points to.
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

@_cdecl("bertqa_prediction_free")
public func bertqa_prediction_free(_ prediction: OpaquePointer?) {
  PredictionHandle.release(prediction)
}

@_cdecl("bertqa_prediction_count")
public func bertqa_prediction_count(_ prediction: OpaquePointer?) -> Int {
  insideGate { PredictionHandle.borrowed(prediction)?.words.count ?? 0 }
}

@_cdecl("bertqa_prediction_get")
public func bertqa_prediction_get(
  _ prediction: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_word>? {
  insideGate { PredictionHandle.borrowed(prediction)?.words.pointer(at: index) }
}

@_cdecl("bertqa_prediction_is_unknown")
public func bertqa_prediction_is_unknown(_ prediction: OpaquePointer?) -> Int32 {
  insideGate { PredictionHandle.borrowed(prediction)?.isUnknown == true ? 1 : 0 }
}

@_cdecl("bertqa_prediction_probabilities")
public func bertqa_prediction_probabilities(_ prediction: OpaquePointer?) -> UnsafePointer<Float>? {
  insideGate { PredictionHandle.borrowed(prediction)?.probabilities.base }
}
