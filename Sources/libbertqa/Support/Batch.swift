import BertQACore
import CBertQAHeader

/// Runs the body of a call that gives `count` objects, and hands them over: all, or none and NULL for each.
func passBatch<Object: Handle>(
  _ count: Int, to out: UnsafeMutablePointer<OpaquePointer?>?, _ name: String,
  _ body: () throws(BertQAError) -> [Object]
) throws(BertQAError) {
  try checkCount(count)
  guard count > 0 else { return }
  let out = try required(out, name)
  for index in 0..<count { out[index] = nil }
  for (index, object) in try body().enumerated() { out[index] = object.passed() }
}

func checkCount(_ count: Int) throws(BertQAError) {
  guard count >= 0, count <= Int(BERTQA_MAX_BATCH) else {
    throw BertQAError(
      .tooLarge,
      "count: \(UInt(bitPattern: count)) is above the limit of \(BERTQA_MAX_BATCH); split the batch")
  }
}

/// An array of texts or pairs; `count` was checked.
func textArguments(
  _ texts: UnsafePointer<bertqa_text>?, _ count: Int, _ name: String
) throws(BertQAError) -> [TextPair] {
  guard count > 0 else { return [] }
  let texts = try required(texts, name)
  var result: [TextPair] = []
  result.reserveCapacity(count)
  for (index, text) in UnsafeBufferPointer(start: texts, count: count).enumerated() {
    var pair = TextPair(text: try textArgument(text.text, text.length, "\(name)[\(index)].text"))
    if text.second != nil || text.second_length > 0 {
      pair.second = try textArgument(text.second, text.second_length, "\(name)[\(index)].second")
    }
    result.append(pair)
  }
  return result
}
