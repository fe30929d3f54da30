import BertQACore
import CBertQAHeader

extension bertqa_redact_options: COptions {
  static let name: StaticString = "bertqa_redact_options"
  static var narrowFieldCount: Int { 2 }
}

@_cdecl("bertqa_redact")
public func bertqa_redact(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ lists: UnsafePointer<OpaquePointer?>?, _ list_count: Int,
  _ options: UnsafePointer<bertqa_redact_options>?, _ output: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ needed: UnsafeMutablePointer<Int>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let needed = try required(needed, "needed")
    needed.pointee = 0
    try checkCount(list_count, "list_count")
    let raw = try readOptions(options)
    let monitor = CallMonitor(try callOptions(raw.call))
    let action = try redactionAction(raw, monitor)
    let text = try textArgument(text, length, "text")
    let entities = try entities(lists, list_count, monitor)
    let redaction = try Redaction(text, entities, action, monitor)
    let count = try redaction.count()
    guard let target = try room(for: count, output, "output", capacity, needed) else { return }
    try redaction.write(to: target.assumingMemoryBound(to: UInt8.self))
  }
}

private func redactionAction(
  _ raw: bertqa_redact_options, _ monitor: CallMonitor
) throws(BertQAError) -> RedactionAction {
  func unused(_ isSet: Bool, _ name: String) throws(BertQAError) {
    guard isSet else { return }
    throw BertQAError(.invalidArgument, argument: name, "is set, but the replacement does not use it")
  }
  let replacement = Int(raw.replacement)
  try unused(
    replacement != BERTQA_REPLACEMENT_TEXT && (raw.text != nil || raw.text_length != 0), "text")
  try unused(
    replacement != BERTQA_REPLACEMENT_HASH && (raw.key != nil || raw.key_length != 0), "key")
  try unused(replacement != BERTQA_REPLACEMENT_PSEUDONYM && raw.pseudonyms != nil, "pseudonyms")
  try unused(replacement != BERTQA_REPLACEMENT_MASK && raw.keep != 0, "keep")
  switch replacement {
  case BERTQA_REPLACEMENT_LABEL: return .label
  case BERTQA_REPLACEMENT_TEXT:
    let text = try textArgument(raw.text, raw.text_length, "text")
    try Memory.require(text.count)
    try monitor.hold(text.count, of: UInt8.self)
    return .text(Array(text))
  case BERTQA_REPLACEMENT_MASK: return .mask(keep: Int(raw.keep))
  case BERTQA_REPLACEMENT_HASH:
    let key = try textArgument(raw.key, raw.key_length, "key")
    try Memory.require(key.count)
    try monitor.hold(key.count, of: UInt8.self)
    return .hash(try RedactionKey(Array(key)))
  case BERTQA_REPLACEMENT_PSEUDONYM:
    return .pseudonym(try PseudonymsHandle.borrowed(raw.pseudonyms, "pseudonyms").pseudonyms)
  default:
    throw BertQAError(
      .invalidArgument, argument: "replacement",
      "is \(raw.replacement), which is not one of the values in the header")
  }
}
