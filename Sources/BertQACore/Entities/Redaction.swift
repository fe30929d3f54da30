extension EntityList {
  /// The text with entities replaced, by `replacement` or by each one's label in brackets, such as "[PER]". Those
  /// that overlap are replaced as one, with the label of the one that begins first, of several there the longest. A
  /// character that an entity has a part of is replaced as a whole, with its marks, joiners and selectors.
  /// O(n) in the text, O(n log n) in the entities.
  /// - Parameter entities: of this text, in any order.
  public static func redact(
    _ text: UnsafeBufferPointer<UInt8>, _ entities: [Entity], replacement: UnsafeBufferPointer<UInt8>? = nil,
    call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [UInt8] {
    let monitor = CallMonitor(call)
    try monitor.check()
    var result = try [UInt8](checkedCapacity: text.count)
    // What precedes it has been dealt with.
    var position = 0
    var edges = TextEdges(text: text)
    for (count, index) in try order(of: entities, in: text, monitor).enumerated() {
      if count % CallPoll.elementInterval == 0 { try monitor.check() }
      let entity = entities[index]
      let isEmpty = entity.bytes.count == 0
      let start = isEmpty ? entity.bytes.start : edges.clusterStart(entity.bytes.start)
      let end = isEmpty ? start : edges.clusterEnd(entity.bytes.end)
      if start >= position {
        try result.append(text[position..<start], monitor)
        if let replacement {
          try result.append(replacement[...], monitor)
        } else {
          let label = Array("[\(entity.label)]".utf8)
          try label.withElements { label throws(BertQAError) in try result.append(label[...], monitor) }
        }
      }
      position = max(position, end)
    }
    try result.append(text[position...], monitor)
    return result
  }

  /// The indices of entities by where they begin, of several there the longest first.
  private static func order(
    of entities: [Entity], in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) -> [Int] {
    for entity in entities
    where entity.bytes.start < 0 || entity.bytes.start > entity.bytes.end || entity.bytes.end > text.count {
      throw BertQAError(
        .invalidArgument,
        "an entity is bytes \(entity.bytes.start) to \(entity.bytes.end) of a text of \(text.count): it is of "
          + "another text")
    }
    try monitor.hold(entities.count * MemoryLayout<Int>.stride)
    return try entities.indices.checkedSorted(CallPoll(monitor)) {
      let (a, b) = (entities[$0].bytes, entities[$1].bytes)
      return (a.start, b.end, $0) < (b.start, a.end, $1)
    }
  }

  /// The string with entities replaced.
  public static func redact(
    _ text: String, _ entities: [Entity], replacement: String? = nil, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> String {
    let bytes = try withBytes(of: [text, replacement ?? ""]) { texts throws(BertQAError) in
      try redact(texts[0], entities, replacement: replacement == nil ? nil : texts[1], call: call)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(
    _ part: Slice<UnsafeBufferPointer<UInt8>>, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.hold(part.count)
    try makeRoom(for: part.count, monitor)
    for start in stride(from: part.startIndex, to: part.endIndex, by: CallPoll.copyInterval) {
      try monitor.check()
      append(contentsOf: part[start..<Swift.min(start + CallPoll.copyInterval, part.endIndex)])
    }
  }
}
