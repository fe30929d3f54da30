import BertQACore
import CBertQAHeader

extension bertqa_logits_options: COptions {
  static let name: StaticString = "bertqa_logits_options"
  static var narrowFieldCount: Int { 0 }
}

@_cdecl("bertqa_logits")
public func bertqa_logits(
  _ context: OpaquePointer?, _ ids: UnsafePointer<Int32>?, _ id_count: Int,
  _ window_lengths: UnsafePointer<Int>?, _ second_segments: UnsafePointer<Int>?,
  _ window_count: Int, _ options: UnsafePointer<bertqa_logits_options>?,
  _ start_logits: UnsafeMutablePointer<Float>?, _ end_logits: UnsafeMutablePointer<Float>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let context = try ContextHandle.borrowed(context, "context").context
    let call = try callOptions(readOptions(options).call)
    try checkCount(id_count, "id_count")
    try checkCount(window_count, "window_count")
    guard window_count > 0 || id_count > 0 else {
      _ = try context.logits(ids: [], windowLengths: [], call: call)
      return
    }
    let ids = try required(ids, "ids")
    let lengths = try required(window_lengths, "window_lengths")
    let startLogits = try required(start_logits, "start_logits")
    let endLogits = try required(end_logits, "end_logits")
    // For the copies of the arguments, and for the results.
    try Memory.require(16 * id_count + 64 * window_count)
    try CallMonitor(call).hold(4 * id_count + 16 * window_count)
    let logits = try context.logits(
      ids: Array(UnsafeBufferPointer(start: ids, count: id_count)),
      windowLengths: Array(UnsafeBufferPointer(start: lengths, count: window_count)),
      secondSegments: second_segments.map {
        Array(UnsafeBufferPointer(start: $0, count: window_count))
      }, call: call)
    startLogits.update(from: logits.start, count: id_count)
    endLogits.update(from: logits.end, count: id_count)
  }
}
