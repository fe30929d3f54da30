/// Finds the other places of entities: a name found once in a text, wherever else it stands, in any case, with the
/// same words and any spaces and marks between them. The time is linear in the text.
struct EntityRepeats {
  /// The first words of entities, as nodes of a tree: the node of more words by the node of fewer and the next word.
  private var nodes: [Step: Int] = [:]
  /// For each node the entity whose words it has; -1 for none.
  private var entityOfNode = [-1]
  private let text: UnsafeBufferPointer<UInt8>
  private let monitor: CallMonitor

  private struct Step: Hashable {
    var node: Int
    var word: UInt64
  }

  private struct Word {
    var range: Range<Int>
    /// Of the letters in lower case, by FNV-1a.
    var hash: UInt64
  }

  /// Longer entities are not looked for.
  private static let mostWords = 16
  /// Shorter ones would be found in too many places.
  private static let fewestBytes = 3

  init(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) {
    self.text = text
    self.monitor = monitor
  }

  mutating func add(_ range: TextRange, _ entity: Int) throws(BertQAError) {
    guard range.count >= Self.fewestBytes, range.start >= 0, range.end <= text.count else { return }
    var node = 0
    var position = range.start
    var count = 0
    while let word = word(from: position, to: range.end) {
      count += 1
      guard count <= Self.mostWords else { return }
      let step = Step(node: node, word: word.hash)
      if let next = nodes[step] {
        node = next
      } else {
        node = entityOfNode.count
        try nodes.insert(node, for: step)
        try entityOfNode.makeRoom(for: 1, monitor)
        entityOfNode.append(-1)
      }
      position = word.range.upperBound
    }
    if node > 0, entityOfNode[node] < 0 { entityOfNode[node] = entity }
  }

  /// Calls a closure with the place of each repetition and the entity that it repeats, in the order of the text.
  func forEach(_ body: (Range<Int>, Int) throws(BertQAError) -> Void) throws(BertQAError) {
    var poll = TextPoll(monitor)
    var position = 0
    while let first = word(from: position, to: text.count) {
      try poll.reach(first.range.lowerBound)
      var node = nodes[Step(node: 0, word: first.hash)]
      var end = first.range.upperBound
      var found: (end: Int, entity: Int)?
      while let current = node {
        if entityOfNode[current] >= 0 { found = (end, entityOfNode[current]) }
        guard let next = word(from: end, to: min(text.count, end + 256)), isGap(end..<next.range.lowerBound)
        else { break }
        node = nodes[Step(node: current, word: next.hash)]
        end = next.range.upperBound
      }
      if let found { try body(first.range.lowerBound..<found.end, found.entity) }
      position = found?.end ?? first.range.upperBound
    }
  }

  /// True if there are few bytes between two words, and no paragraph ends there.
  private func isGap(_ range: Range<Int>) -> Bool {
    range.count <= 8 && text[range].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) } < 2
  }

  /// Returns the first word that begins in a part of the text: letters, digits and the marks on them.
  private func word(from start: Int, to end: Int) -> Word? {
    var position = start
    var range: Range<Int>?
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    while position < end {
      let unit = UTF8Codec.decode(text, at: position)
      let kind = WordTables.shared.wordBreak(unit.scalar)
      guard kind.isWord || kind == .single && range == nil || range != nil && kind == .extend else {
        if range != nil { break }
        position += unit.size
        continue
      }
      hash = (hash ^ UInt64(UnicodeData.shared.lowercase(unit.scalar))) &* 0x100_0000_01B3
      position += unit.size
      range = (range?.lowerBound ?? position - unit.size)..<position
      // A script without spaces: each character is a word.
      if kind == .single { break }
    }
    return range.map { Word(range: $0, hash: hash) }
  }
}

extension EntityList {
  /// Returns the list with the other places of its entities: a name found once in the text, wherever it stands, in any
  /// case. Places within entities are left out. Takes time linear in the text.
  /// - Parameter text: the text of the list.
  public func everywhere(
    in text: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> EntityList {
    if entities.isEmpty { return self }
    let monitor = CallMonitor(call)
    var repeats = EntityRepeats(text, monitor)
    for (index, entity) in entities.enumerated() { try repeats.add(entity.bytes, index) }
    var result = self
    result.entities = try [Entity](resultCapacity: entities.count, monitor)
    var locator = RangeLocator(text, monitor)
    // Entities before this one have been kept, and end before this place at the latest.
    var next = 0
    var covered = 0
    try repeats.forEach { range, index throws(BertQAError) in
      while next < entities.count, entities[next].bytes.start <= range.lowerBound {
        covered = max(covered, entities[next].bytes.end)
        try result.entities.makeRoom(for: 1, monitor)
        result.entities.append(entities[next])
        next += 1
      }
      if range.upperBound <= covered { return }
      let bytes = TextRange(start: range.lowerBound, end: range.upperBound)
      let entity = try locator.entity(entities[index].label, bytes, entities[index].score)
      try result.entities.makeRoom(for: 1, monitor)
      result.entities.append(entity)
    }
    try result.entities.makeRoom(for: entities.count - next, monitor)
    result.entities += entities[next...]
    return result
  }
}
