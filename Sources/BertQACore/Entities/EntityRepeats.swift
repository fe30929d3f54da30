extension EntityList {
  /// Shorter entities would be found in too many places.
  private static let fewestBytes = 3

  /// Returns the list with the other occurrences of its entities: a name found once is found everywhere in the text,
  /// ignoring case. Omits occurrences within entities, and entities of more than 16 words. Takes time linear in the
  /// text.
  /// - Parameter text: the text of the list.
  public func everywhere(
    in text: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> EntityList {
    if entities.isEmpty { return self }
    let monitor = CallMonitor(call)
    var phrases = PhraseTree()
    var poll = TextPoll(monitor)
    for (index, entity) in entities.enumerated() {
      let bytes = entity.bytes
      guard bytes.count >= Self.fewestBytes, bytes.start >= 0, bytes.end <= text.count else { continue }
      _ = try phrases.add(text, bytes.start..<bytes.end, number: index, monitor, &poll)
    }
    return try adding(in: text, monitor, phrases) { index in
      (entities[index].label, entities[index].score, EntityReason(rule: "everywhere"))
    }
  }

  /// Returns the list with the places of phrases that are not within an entity.
  /// - Parameter meaning: returns the label, score and reason for the number of a phrase.
  func adding(
    in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor, _ phrases: PhraseTree,
    _ meaning: (Int) -> (label: String, score: Float, reason: EntityReason)
  ) throws(BertQAError) -> EntityList {
    var result = self
    result.entities = try [Entity](resultCapacity: entities.count, monitor)
    var locator = RangeLocator(text, monitor)
    // Entities before this one have been kept, and end before this place at the latest.
    var next = 0
    var covered = 0
    try phrases.forEach(in: text, monitor) { range, number throws(BertQAError) in
      while next < entities.count, entities[next].bytes.start <= range.lowerBound {
        covered = max(covered, entities[next].bytes.end)
        try result.entities.makeRoom(for: 1, monitor)
        result.entities.append(entities[next])
        next += 1
      }
      if range.upperBound <= covered { return }
      let bytes = TextRange(start: range.lowerBound, end: range.upperBound)
      let (label, score, reason) = meaning(number)
      var entity = try locator.entity(label, bytes, score)
      entity.reason = reason
      try result.entities.makeRoom(for: 1, monitor)
      result.entities.append(entity)
    }
    try result.entities.makeRoom(for: entities.count - next, monitor)
    result.entities += entities[next...]
    return result
  }
}
