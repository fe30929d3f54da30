import BertQACore
import CBertQAHeader

extension bertqa_patterns_options: COptions {
  static let name: StaticString = "bertqa_patterns_options"
  static var narrowFieldCount: Int { 2 }
}

@_cdecl("bertqa_patterns_named")
public func bertqa_patterns_named(
  _ names: UnsafePointer<CChar>?, _ length: Int, _ patterns: UnsafeMutablePointer<bertqa_pattern>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let patterns = try required(patterns, "patterns")
    patterns.pointee = 0
    let names = try string(of: textArgument(names, length, "names"))
    patterns.pointee = try naming("names") { () throws(BertQAError) in try PIIKinds(names: names).rawValue }
  }
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
    options.regions = try texts(raw.regions, raw.region_count, "regions", "region_count", options.call) ?? []
    if raw.patterns != 0 { options.kinds = PIIKinds(rawValue: raw.patterns) }
    let bytes = try textArgument(text, length, "text")
    let list = try EntityList(piiIn: bytes, options: options)
    return try EntityListHandle(list, CallMonitor(options.call))
  }
}

@_cdecl("bertqa_checksum")
public func bertqa_checksum(
  _ name: UnsafePointer<CChar>?, _ name_length: Int, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ is_right: UnsafeMutablePointer<Int32>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let isRight = try required(is_right, "is_right")
    isRight.pointee = 0
    let name = try labelArgument(name, name_length, "name")
    let checksum = try naming("name") { () throws(BertQAError) in try Checksum(named: name) }
    isRight.pointee = try checksum.accepts(textArgument(text, length, "text")) ? 1 : 0
  }
}
