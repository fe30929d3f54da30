import BertQACore
import CBertQAHeader
import Synchronization

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
    try checkCount(list_count)
    let raw = try readOptions(options)
    let monitor = CallMonitor(try callOptions(raw.call))
    let action = try redactionAction(raw, monitor)
    let text = try textArgument(text, length, "text")
    let entities = try entities(lists, list_count, monitor)
    let redaction = try Redaction(text, entities, action, monitor)
    let count = try redaction.count()
    guard let target = try room(for: count, output, capacity, needed) else { return }
    try redaction.write(to: target)
  }
}

/// Returns the entities of each list; an entry may be NULL.
private func entities(
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
  created(list, "list") { () throws(BertQAError) in
    try checkCount(list_count)
    let call = try callOptions(call)
    let monitor = CallMonitor(call)
    let text = try textArgument(text, length, "text")
    let merged = try EntityList(merging: try entities(lists, list_count, monitor), of: text, call: call)
    return try EntityListHandle(try merged.everywhere(in: text, call: call), monitor)
  }
}

@_cdecl("bertqa_apply_lists")
public func bertqa_apply_lists(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ lists: UnsafePointer<OpaquePointer?>?, _ list_count: Int,
  _ allow: UnsafePointer<bertqa_text>?, _ allow_count: Int, _ deny: UnsafePointer<bertqa_text>?,
  _ deny_count: Int, _ call: UnsafePointer<bertqa_call_options>?,
  _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(list, "list") { () throws(BertQAError) in
    try checkCount(list_count)
    let call = try callOptions(call)
    let monitor = CallMonitor(call)
    let text = try textArgument(text, length, "text")
    let known = try TextLists(
      allow: try texts(allow, allow_count, "allow", "allow_count") ?? [],
      deny: try texts(deny, deny_count, "deny", "deny_count") ?? [], call: call)
    let merged = try EntityList(merging: try entities(lists, list_count, monitor), of: text, call: call)
    return try EntityListHandle(try merged.applying(known, in: text, call: call), monitor)
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

/// Sets the needed size and returns the memory for a result; nil if the result is empty.
private func room(
  for count: Int, _ output: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ needed: UnsafeMutablePointer<Int>
) throws(BertQAError) -> UnsafeMutablePointer<UInt8>? {
  needed.pointee = count
  // A size_t above Int.max arrives here as a negative number.
  guard capacity < 0 || count <= capacity else {
    throw BertQAError(
      .invalidArgument, argument: "capacity", "is \(capacity), but the text needs \(count) bytes")
  }
  guard count > 0 else { return nil }
  return UnsafeMutableRawPointer(try required(output, "output")).assumingMemoryBound(to: UInt8.self)
}

@_cdecl("bertqa_entity_list_create")
public func bertqa_entity_list_create(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ ranges: UnsafePointer<bertqa_labelled_range>?, _ count: Int,
  _ call: UnsafePointer<bertqa_call_options>?, _ list: UnsafeMutablePointer<OpaquePointer?>?
) -> bertqa_status {
  created(list, "list") { () throws(BertQAError) in
    try checkCount(count)
    let call = try callOptions(call)
    let monitor = CallMonitor(call)
    let text = try textArgument(text, length, "text")
    var parts = try [(label: String, bytes: TextRange, score: Float, reason: EntityReason?)](
      checkedCapacity: count, monitor)
    var labels: [[UInt8]: String] = [:]
    for (index, range) in try elements(ranges, count, "ranges").enumerated() {
      try check(item: index, monitor)
      let bytes = Array(try textArgument(range.label, range.label_length, "label"))
      let label = try labels[bytes] ?? labelArgument(range.label, range.label_length, "label")
      labels[bytes] = label
      guard range.bytes.start <= range.bytes.end, range.bytes.end <= UInt(text.count) else {
        throw BertQAError(
          .invalidArgument, argument: "ranges",
          "has bytes \(range.bytes.start) to \(range.bytes.end) at \(index), but the text has \(text.count)")
      }
      try checkReserved(range.reserved)
      parts.append(
        (label, TextRange(start: Int(range.bytes.start), end: Int(range.bytes.end)), range.score, nil))
    }
    return try EntityListHandle(try EntityList(of: text, parts, call: call), monitor)
  }
}

// MARK: - Pseudonyms

/// Names of values, and the C views of those that were read.
final class PseudonymsHandle: Handle {
  let pseudonyms = Pseudonyms()
  private let views = Mutex<[PseudonymView]>([])

  /// Returns nil beyond the count.
  func view(at index: Int) -> UnsafePointer<bertqa_pseudonym>? {
    views.withLock { views in
      if index >= views.count { views += pseudonyms.entries(from: views.count).map(PseudonymView.init) }
      return views.indices.contains(index) ? UnsafePointer(views[index].pointer) : nil
    }
  }
}

private final class PseudonymView: @unchecked Sendable {  // its memory never changes
  private let bytes: UnsafeMutableBufferPointer<CChar>
  let pointer: UnsafeMutablePointer<bertqa_pseudonym>

  init(_ entry: Pseudonyms.Entry) {
    bytes = .allocate(capacity: entry.name.count + entry.value.count + 1)
    _ = bytes.initialize(fromContentsOf: (entry.name + entry.value + [0]).map { CChar(bitPattern: $0) })
    pointer = .allocate(capacity: 1)
    var view = bertqa_pseudonym()
    view.name = bertqa_text(text: bytes.baseAddress, length: entry.name.count)
    view.value = bertqa_text(text: bytes.baseAddress.map { $0 + entry.name.count }, length: entry.value.count)
    pointer.initialize(to: view)
  }

  deinit {
    pointer.deallocate()
    bytes.deallocate()
  }
}

@_cdecl("bertqa_pseudonyms_create")
public func bertqa_pseudonyms_create(_ pseudonyms: UnsafeMutablePointer<OpaquePointer?>?) -> bertqa_status {
  created(pseudonyms, "pseudonyms") { () throws(BertQAError) in PseudonymsHandle() }
}

@_cdecl("bertqa_pseudonyms_free")
public func bertqa_pseudonyms_free(_ pseudonyms: OpaquePointer?) { PseudonymsHandle.release(pseudonyms) }

@_cdecl("bertqa_pseudonyms_count")
public func bertqa_pseudonyms_count(_ pseudonyms: OpaquePointer?) -> Int {
  insideGate { PseudonymsHandle.borrowed(pseudonyms)?.pseudonyms.count ?? 0 }
}

@_cdecl("bertqa_pseudonyms_get")
public func bertqa_pseudonyms_get(
  _ pseudonyms: OpaquePointer?, _ index: Int
) -> UnsafePointer<bertqa_pseudonym>? {
  insideGate { index < 0 ? nil : PseudonymsHandle.borrowed(pseudonyms)?.view(at: index) }
}

@_cdecl("bertqa_pseudonyms_add")
public func bertqa_pseudonyms_add(
  _ pseudonyms: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ name_length: Int,
  _ value: UnsafePointer<CChar>?, _ value_length: Int
) -> bertqa_status {
  status { () throws(BertQAError) in
    let pseudonyms = try PseudonymsHandle.borrowed(pseudonyms, "pseudonyms").pseudonyms
    let name = try textArgument(name, name_length, "name")
    let value = try textArgument(value, value_length, "value")
    try Memory.require(2 * (name.count + value.count))
    try pseudonyms.add(name: Array(name), value: Array(value))
  }
}

@_cdecl("bertqa_restore")
public func bertqa_restore(
  _ text: UnsafePointer<CChar>?, _ length: Int, _ pseudonyms: OpaquePointer?,
  _ call: UnsafePointer<bertqa_call_options>?, _ output: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ needed: UnsafeMutablePointer<Int>?
) -> bertqa_status {
  status { () throws(BertQAError) in
    let needed = try required(needed, "needed")
    needed.pointee = 0
    let call = try callOptions(call)
    let pseudonyms = try PseudonymsHandle.borrowed(pseudonyms, "pseudonyms").pseudonyms
    let text = try textArgument(text, length, "text")
    let restored = try pseudonyms.restore(text, call: call)
    guard let target = try room(for: restored.count, output, capacity, needed) else { return }
    try restored.withElements { bytes throws(BertQAError) in
      if let source = bytes.baseAddress {
        try target.update(from: source, count: bytes.count, CallMonitor(call))
      }
    }
  }
}
