import BertQACore
import CBertQAHeader

extension bertqa_patterns_options: COptions {
  static let name: StaticString = "bertqa_patterns_options"
  static var narrowFieldCount: Int { 2 }
}

@_cdecl("bertqa_patterns")
public func bertqa_patterns(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ options: UnsafePointer<bertqa_patterns_options>?,
  _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(list, "list") { () throws(BertQAError) in
    let raw = try readOptions(options)
    try checkReserved(raw.reserved)
    var options = PIIOptions()
    options.call = try callOptions(raw.call)
    options.regions = try texts(raw.regions, raw.region_count, "regions", "region_count") ?? []
    if raw.patterns != 0 { options.kinds = PIIKinds(rawValue: raw.patterns) }
    let bytes = try textArgument(text, length, "text")
    let list = try EntityList(piiIn: bytes, options: options)
    return try EntityListHandle(list, CallMonitor(options.call))
  }
}

@_cdecl("bertqa_redact")
public func bertqa_redact(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ lists: UnsafePointer<OpaquePointer?>?, _ list_count: Int,
  _ replacement: UnsafePointer<CChar>?, _ replacement_length: Int,
  _ call: UnsafePointer<bertqa_call_options>?, _ output: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ needed: UnsafeMutablePointer<Int>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let needed = try required(needed, "needed")
    needed.pointee = 0
    try checkCount(list_count)
    let call = try callOptions(call)
    let monitor = CallMonitor(call)
    let text = try textArgument(text, length, "text")
    let replacementText = try textArgument(replacement, replacement_length, "replacement")
    var entities = try [[Entity]](resultCapacity: list_count, monitor)
    if list_count > 0 {
      let lists = try required(lists, "lists")
      for index in 0..<list_count {
        try check(item: index, monitor)
        guard let list = EntityListHandle.borrowed(lists[index])?.list else { continue }
        entities.append(list.entities)
      }
    }
    let redaction = try Redaction(
      text, entities, replacement: replacement == nil ? nil : replacementText, monitor)
    let count = try redaction.count()
    needed.pointee = count
    // A size_t above Int.max arrives here as a negative number.
    guard capacity < 0 || count <= capacity else {
      throw BertQAError(
        .invalidArgument, argument: "capacity", "is \(capacity), but the text needs \(count) bytes")
    }
    guard count > 0 else { return }
    let target = UnsafeMutableRawPointer(try required(output, "output"))
    try redaction.write(to: target.assumingMemoryBound(to: UInt8.self))
  }
}
