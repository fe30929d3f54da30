import BertQACore
import CBertQAHeader

/// Makes a list of entities of a text.
/// - Parameters:
///   - count: of the array that the list is made of.
///   - countName: the name of that argument.
private func createdList(
  _ list: UnsafeMutablePointer<OpaquePointer?>?, of text: UnsafePointer<CChar>?, _ length: Int,
  _ count: Int, _ countName: StaticString, _ call: UnsafePointer<bertqa_call_options>?,
  _ body: (UnsafeBufferPointer<UInt8>, CallOptions, CallMonitor) throws(BertQAError) -> EntityList
) -> bertqa_status {
  created(list, "list") { () throws(BertQAError) in
    try checkCount(count, countName)
    let call = try callOptions(call)
    let monitor = CallMonitor(call)
    let made = try body(textArgument(text, length, "text"), call, monitor)
    return try EntityListHandle(made, monitor)
  }
}

@_cdecl("bertqa_entity_list_create")
public func bertqa_entity_list_create(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ ranges: UnsafePointer<bertqa_labelled_range>?, _ count: Int,
  _ call: UnsafePointer<bertqa_call_options>?, _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  createdList(list, of: text, length, count, "count", call) { text, call, _ throws(BertQAError) in
    var labels: [[UInt8]: String] = [:]
    let parts = try readItems(ranges, count, "ranges", call) { range throws(BertQAError) in
      let bytes = try textArgument(range.label, range.label_length, "label")
      try Memory.require(bytes.count)
      let key = Array(bytes)
      let label =
        if let known = labels[key] { known } else {
          try labelArgument(range.label, range.label_length, "label")
        }
      labels[key] = label
      // A size_t above Int.max arrives here as a negative number.
      let place = TextRange(start: Int(range.bytes.start), end: Int(range.bytes.end))
      guard 0 <= place.start, place.start <= place.end, place.end <= text.count else {
        throw BertQAError(
          .invalidArgument, argument: "bytes",
          "are \(UInt(bitPattern: place.start)) to \(UInt(bitPattern: place.end)), but the text has \(text.count)"
        )
      }
      try checkReserved(range.reserved)
      return (label: label, bytes: place, score: range.score, reason: nil as EntityReason?)
    }
    return try EntityList(of: text, parts, call: call)
  }
}

/// Returns the entities of each list; an entry may be NULL.
func entities(
  _ lists: UnsafePointer<OpaquePointer?>?, _ count: Int, _ monitor: CallMonitor
) throws(BertQAError) -> [[Entity]] {
  var entities = try [[Entity]](resultCapacity: count, monitor)
  for (index, list) in try elements(lists, count, "lists").enumerated() {
    try check(item: index, monitor)
    guard let list = EntityListHandle.borrowed(list)?.list else { continue }
    entities.append(list.entities)
  }
  return entities
}

@_cdecl("bertqa_everywhere")
public func bertqa_everywhere(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ lists: UnsafePointer<OpaquePointer?>?, _ list_count: Int,
  _ call: UnsafePointer<bertqa_call_options>?, _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  createdList(list, of: text, length, list_count, "list_count", call) {
    text, call, monitor throws(BertQAError) in
    let merged = try EntityList(merging: try entities(lists, list_count, monitor), of: text, call: call)
    return try merged.everywhere(in: text, call: call)
  }
}

@_cdecl("bertqa_apply_lists")
public func bertqa_apply_lists(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ lists: UnsafePointer<OpaquePointer?>?, _ list_count: Int,
  _ allow: UnsafePointer<bertqa_text>?, _ allow_count: Int, _ deny: UnsafePointer<bertqa_text>?,
  _ deny_count: Int, _ call: UnsafePointer<bertqa_call_options>?,
  _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  createdList(list, of: text, length, list_count, "list_count", call) {
    text, call, monitor throws(BertQAError) in
    let known = try TextLists(
      allow: try texts(allow, allow_count, "allow", "allow_count", call) ?? [],
      deny: try texts(deny, deny_count, "deny", "deny_count", call) ?? [], call: call)
    let merged = try EntityList(merging: try entities(lists, list_count, monitor), of: text, call: call)
    return try merged.applying(known, in: text, call: call)
  }
}
