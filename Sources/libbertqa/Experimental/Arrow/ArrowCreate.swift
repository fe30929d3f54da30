import BertQACore
import CBertQAHeader

@_cdecl("bertqa_column_create")
public func bertqa_column_create(
  _ format: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?, _ length: Int64, _ null_count: Int64,
  _ buffers: UnsafePointer<bertqa_text>?, _ buffer_count: Int, _ children: UnsafeMutablePointer<ArrowArray>?,
  _ child_schemas: UnsafeMutablePointer<ArrowSchema>?, _ child_count: Int,
  _ array: UnsafeMutablePointer<ArrowArray>?, _ schema: UnsafeMutablePointer<ArrowSchema>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let output = try ArrowOutput(array, "array", schema)
    let format = try required(format, "format")
    let name = try required(name, "name")
    guard length >= 0 else {
      throw BertQAError(.invalidArgument, argument: "length", "is \(length), but must be at least 0")
    }
    guard (-1...length).contains(null_count) else {
      throw BertQAError(.invalidArgument, argument: "null_count", "is \(null_count) of \(length) rows")
    }
    let limit = Int(Int32.max)
    guard (0...limit).contains(buffer_count) else {
      throw BertQAError(.invalidArgument, argument: "buffer_count", "is above \(limit)")
    }
    guard (0...limit).contains(child_count) else {
      throw BertQAError(.invalidArgument, argument: "child_count", "is above \(limit)")
    }
    if buffer_count > 0 { _ = try required(buffers, "buffers") }
    if child_count > 0 {
      _ = try required(children, "children")
      _ = try required(child_schemas, "child_schemas")
    }
    let data = UnsafeBufferPointer(start: buffers, count: buffer_count)
    for buffer in data where buffer.text != nil && !(0...Int.max / 2).contains(buffer.length) {
      throw BertQAError(
        .invalidArgument, argument: "buffers", "have a length of \(UInt(bitPattern: buffer.length))")
    }
    let moved = UnsafeMutableBufferPointer(start: children, count: child_count)
    let movedSchemas = UnsafeMutableBufferPointer(start: child_schemas, count: child_count)
    for index in moved.indices where moved[index].release == nil || movedSchemas[index].release == nil {
      throw BertQAError(.invalidArgument, argument: "children", "have one that was released, at \(index)")
    }
    try output.take(
      format: format, name: name, length: length, nullCount: null_count, buffers: data, children: moved,
      childSchemas: movedSchemas, CallMonitor(CallOptions()))
  }
}
