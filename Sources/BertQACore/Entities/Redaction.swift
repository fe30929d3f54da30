extension EntityList {
  /// The text with entities replaced, by `replacement` or by each one's label in brackets, such as "[PER]". Those
  /// that overlap are replaced as one, with the label of the one that begins first, of several there the longest.
  /// - Parameter entities: of this text, in any order.
  public static func redact(
    _ text: UnsafeBufferPointer<UInt8>, _ entities: [Entity], replacement: UnsafeBufferPointer<UInt8>? = nil
  ) throws(BertQAError) -> [UInt8] {
    for entity in entities
    where entity.bytes.start < 0 || entity.bytes.start > entity.bytes.end || entity.bytes.end > text.count {
      throw BertQAError(
        .invalidArgument,
        "an entity is bytes \(entity.bytes.start) to \(entity.bytes.end) of a text of \(text.count): it is of "
          + "another text")
    }
    var order = try [Int](checkedCapacity: entities.count)
    order += entities.indices
    order.sort {
      let (a, b) = (entities[$0].bytes, entities[$1].bytes)
      return (a.start, b.end, $0) < (b.start, a.end, $1)
    }
    var result = try [UInt8](checkedCapacity: text.count)
    var position = 0
    var next = 0
    while next < order.count {
      let first = entities[order[next]]
      var end = first.bytes.end
      next += 1
      while next < order.count, entities[order[next]].bytes.start < end {
        end = max(end, entities[order[next]].bytes.end)
        next += 1
      }
      try result.append(text[position..<first.bytes.start])
      if let replacement {
        try result.append(replacement[...])
      } else {
        let label = Array("[\(first.label)]".utf8)
        try label.withElements { label throws(BertQAError) in try result.append(label[...]) }
      }
      position = end
    }
    try result.append(text[position...])
    return result
  }

  /// The string with entities replaced.
  public static func redact(
    _ text: String, _ entities: [Entity], replacement: String? = nil
  ) throws(BertQAError) -> String {
    let bytes = try withBytes(of: [text, replacement ?? ""]) { texts throws(BertQAError) in
      try redact(texts[0], entities, replacement: replacement == nil ? nil : texts[1])
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ part: Slice<UnsafeBufferPointer<UInt8>>) throws(BertQAError) {
    try makeRoom(for: part.count)
    append(contentsOf: part)
  }
}
