/// A text whose entities are replaced. Overlapping entities are replaced as one, with the label of the one
/// that starts first; of several that start there, the longest. A character is replaced as a whole even if an
/// entity has only a part of it.
package struct Redaction {
  private let text: UnsafeBufferPointer<UInt8>
  private let lists: [[Entity]]
  /// nil: each entity's label in brackets, such as "[PER]".
  private let replacement: UnsafeBufferPointer<UInt8>?
  private let monitor: CallMonitor
  /// Sorted by the start of the entities; of several with the same start, the longest first.
  private let order: [Place]

  /// The position of an entity in `lists`.
  private struct Place {
    var list: UInt32
    var index: UInt32
  }

  /// Takes O(n log n) time in the number of entities.
  /// - Parameter lists: entities of this text, in any order.
  package init(
    _ text: UnsafeBufferPointer<UInt8>, _ lists: [[Entity]], replacement: UnsafeBufferPointer<UInt8>?,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.check()
    var places = try [Place](checkedCapacity: lists.reduce(0) { $0 + $1.count }, monitor)
    for (list, entities) in lists.enumerated() {
      for (index, entity) in entities.enumerated() {
        if index % CallPoll.elementInterval == 0 { try monitor.check() }
        let bytes = entity.bytes
        guard bytes.start >= 0, bytes.start <= bytes.end, bytes.end <= text.count else {
          throw BertQAError(
            .invalidArgument,
            "an entity has bytes \(bytes.start) to \(bytes.end), but the text has \(text.count): it belongs to another text"
          )
        }
        places.append(Place(list: UInt32(list), index: UInt32(index)))
      }
    }
    try places.checkedSort(CallPoll(monitor)) {
      let (a, b) = (lists[Int($0.list)][Int($0.index)].bytes, lists[Int($1.list)][Int($1.index)].bytes)
      return (a.start, b.end, $0.list, $0.index) < (b.start, a.end, $1.list, $1.index)
    }
    order = places
    self.text = text
    self.lists = lists
    self.replacement = replacement
    self.monitor = monitor
  }

  /// Returns the size of the result in bytes. O(n) in the entities.
  package func count() throws(BertQAError) -> Int {
    var count = 0
    try forEachPart { part in count += part.count }
    return count
  }

  /// Writes the result to memory of `count()` bytes. O(n) in the text and the entities.
  package func write(to output: UnsafeMutablePointer<UInt8>) throws(BertQAError) {
    var end = output
    try forEachPart { part throws(BertQAError) in
      guard let source = part.baseAddress else { return }
      try end.update(from: source, count: part.count, monitor)
      end += part.count
    }
  }

  private func forEachPart(
    _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    // Everything before this position has been written.
    var position = 0
    var edges = TextEdges(text: text)
    for (count, place) in order.enumerated() {
      if count % CallPoll.elementInterval == 0 { try monitor.check() }
      let entity = lists[Int(place.list)][Int(place.index)]
      let isEmpty = entity.bytes.count == 0
      let start = isEmpty ? entity.bytes.start : edges.clusterStart(entity.bytes.start)
      let end = isEmpty ? start : edges.clusterEnd(entity.bytes.end)
      if start >= position {
        try body(UnsafeBufferPointer(rebasing: text[position..<start]))
        if let replacement {
          try body(replacement)
        } else {
          try Array("[\(entity.label)]".utf8).withElements(body)
        }
      }
      position = max(position, end)
    }
    try body(UnsafeBufferPointer(rebasing: text[position...]))
  }
}

extension EntityList {
  /// Returns the text with its entities replaced by `replacement` or by each one's label in brackets, such as
  /// "[PER]". Overlapping entities are replaced as one, with the label of the one that starts first; of
  /// several that start there, the longest. A character is replaced as a whole, with its marks, joiners and
  /// selectors, even if an entity has only a part of it. O(n) in the text, O(n log n) in the entities.
  /// - Parameter entities: of this text, in any order.
  public static func redact(
    _ text: UnsafeBufferPointer<UInt8>, _ entities: [Entity], replacement: UnsafeBufferPointer<UInt8>? = nil,
    call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [UInt8] {
    let monitor = CallMonitor(call)
    let redaction = try Redaction(text, [entities], replacement: replacement, monitor)
    let count = try redaction.count()
    var result = try [UInt8](repeating: 0, count: count, monitor)
    try result.withMutableElements { bytes throws(BertQAError) in
      if let base = bytes.baseAddress { try redaction.write(to: base) }
    }
    return result
  }

  /// Returns the string with its entities replaced.
  public static func redact(
    _ text: String, _ entities: [Entity], replacement: String? = nil, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> String {
    let bytes = try withBytes(of: [text, replacement ?? ""]) { texts throws(BertQAError) in
      try redact(texts[0], entities, replacement: replacement == nil ? nil : texts[1], call: call)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
