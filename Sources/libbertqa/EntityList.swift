import BertQACore
import CBertQAHeader

/// The entities of a text and their C views.
final class EntityListHandle: Handle {
  let list: EntityList
  let entities: CArray<bertqa_entity>
  let summary: CArray<bertqa_entities_summary>
  /// The storage of the entities' labels and of the names of rules and checks, each once.
  private let names: [ExactString: CString]

  init(_ list: EntityList, _ monitor: CallMonitor) throws(BertQAError) {
    self.list = list
    var names: [ExactString: CString] = [:]
    for entity in list.entities {
      for name in [entity.label, entity.reason?.rule, entity.reason?.checksum] {
        if let name, names[ExactString(name)] == nil { names[ExactString(name)] = CString(name) }
      }
    }
    self.names = names
    entities = try CArray(count: list.entities.count, monitor) { bertqa_entity(list.entities[$0], names) }
    var summary = bertqa_entities_summary()
    summary.struct_size = MemoryLayout<bertqa_entities_summary>.size
    summary.window_count = list.windowCount
    self.summary = try CArray([summary])
  }
}

extension bertqa_entity {
  fileprivate init(_ entity: Entity, _ names: [ExactString: CString]) {
    self.init()
    struct_size = MemoryLayout<Self>.size
    let label = names[ExactString(entity.label)]
    self.label = label?.pointer
    label_length = label?.count ?? 0
    bytes = bertqa_range(entity.bytes)
    code_points = bertqa_range(entity.codePoints)
    utf16 = bertqa_range(entity.utf16)
    score = entity.score
    guard let reason = entity.reason else { return }
    rule = names[ExactString(reason.rule)]?.pointer
    checksum = reason.checksum.flatMap { names[ExactString($0)]?.pointer }
    if let place = reason.context { context = bertqa_range(place) }
  }
}

@_cdecl("bertqa_entity_list_free")
public func bertqa_entity_list_free(_ list: OpaquePointer?) {
  EntityListHandle.release(list)
}

@_cdecl("bertqa_entity_list_count")
public func bertqa_entity_list_count(_ list: OpaquePointer?) -> Int {
  insideGate { EntityListHandle.borrowed(list)?.entities.count ?? 0 }
}

@_cdecl("bertqa_entity_list_get")
public func bertqa_entity_list_get(_ list: OpaquePointer?, _ index: Int) -> UnsafePointer<bertqa_entity>? {
  insideGate { EntityListHandle.borrowed(list)?.entities.pointer(at: index) }
}

@_cdecl("bertqa_entity_list_summary")
public func bertqa_entity_list_summary(_ list: OpaquePointer?) -> UnsafePointer<bertqa_entities_summary>? {
  insideGate { EntityListHandle.borrowed(list)?.summary.base }
}
