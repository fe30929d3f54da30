import BertQACore
import CBertQAHeader
import Synchronization

/// Names of values, and the C views of those that were read.
final class PseudonymsHandle: Handle {
  let pseudonyms = Pseudonyms()
  private let views = Mutex<[PseudonymView]>([])

  /// Returns nil beyond the count, and if memory runs out.
  func view(at index: Int) -> UnsafePointer<bertqa_pseudonym>? {
    views.withLock { views in
      if index >= views.count {
        let new = pseudonyms.entries(from: views.count)
        let bytes = new.reduce(0) { $0 + $1.name.count + $1.value.count + PseudonymView.overhead }
        guard (try? Memory.require(bytes)) != nil else { return nil }
        views += new.map(PseudonymView.init)
      }
      return views.indices.contains(index) ? UnsafePointer(views[index].pointer) : nil
    }
  }
}

private final class PseudonymView: @unchecked Sendable {  // its memory never changes
  /// The approximate bytes of a view without its texts.
  static let overhead = 128

  private let bytes: UnsafeMutablePointer<UInt8>
  let pointer: UnsafeMutablePointer<bertqa_pseudonym>

  init(_ entry: Pseudonyms.Entry) {
    let (name, value) = (entry.name.count, entry.value.count)
    bytes = .allocate(capacity: name + value + 1)
    let buffer = UnsafeMutableBufferPointer(start: bytes, count: name + value)
    _ = buffer[..<name].initialize(fromContentsOf: entry.name)
    _ = buffer[name...].initialize(fromContentsOf: entry.value)
    bytes[name + value] = 0
    let text = UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self)
    pointer = .allocate(capacity: 1)
    pointer.initialize(
      to: bertqa_pseudonym(
        name: bertqa_text(text: text, length: name), value: bertqa_text(text: text + name, length: value)))
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
    guard let target = try room(for: restored.count, output, "output", capacity, needed) else { return }
    try restored.withElements { bytes throws(BertQAError) in
      if let source = bytes.baseAddress {
        try target.assumingMemoryBound(to: UInt8.self).update(
          from: source, count: bytes.count, CallMonitor(call))
      }
    }
  }
}
