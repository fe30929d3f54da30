/// A text whose entities are replaced. Overlapping entities are replaced as one, with the label of the one
/// that starts first; of several that start there, the longest. A character is replaced as a whole even if an
/// entity has only a part of it.
package struct Redaction {
  private let text: UnsafeBufferPointer<UInt8>
  private let lists: [[Entity]]
  private let action: RedactionAction
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
    _ text: UnsafeBufferPointer<UInt8>, _ lists: [[Entity]], _ action: RedactionAction, _ monitor: CallMonitor
  ) throws(BertQAError) {
    try monitor.check()
    var lists = lists
    switch action {
    case .pseudonym: lists.append(try Self.names(in: text, monitor))
    case .mask(let keep) where keep < 0:
      throw BertQAError(.invalidArgument, argument: "keep", "is \(keep), but must not be negative")
    default: break
    }
    var places = try [Place](checkedCapacity: lists.reduce(0) { $0 + $1.count }, monitor)
    for (list, entities) in lists.enumerated() {
      for (index, entity) in entities.enumerated() {
        if index % CallPoll.elementInterval == 0 { try monitor.check() }
        try entity.checkIsWithin(text)
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
    self.action = action
    self.monitor = monitor
  }

  /// Returns the size of the result in bytes. O(n) in the entities, and in the text where the action reads it.
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
    try forEachPlace { range, label throws(BertQAError) in
      try body(UnsafeBufferPointer(rebasing: text[position..<range.lowerBound]))
      try replace(range, label, body)
      position = range.upperBound
    }
    try body(UnsafeBufferPointer(rebasing: text[position...]))
  }

  /// Calls a closure with each part of the text that is replaced, in order, and its label.
  package func forEachPlace(
    _ body: (Range<Int>, String) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var edges = TextEdges(text: text)
    var place: (range: Range<Int>, label: String)?
    for (count, one) in order.enumerated() {
      if count % CallPoll.elementInterval == 0 { try monitor.check() }
      let entity = lists[Int(one.list)][Int(one.index)]
      let start = edges.clusterStart(entity.bytes.start)
      let end = entity.bytes.count == 0 ? start : edges.clusterEnd(entity.bytes.end)
      if let last = place?.range, start < last.upperBound {
        place?.range = last.lowerBound..<max(last.upperBound, end)
      } else {
        if let place { try body(place.range, place.label) }
        place = (start..<end, entity.label)
      }
    }
    if let place { try body(place.range, place.label) }
  }

  /// Calls a closure with what replaces a part of the text, in one or more pieces.
  package func replace(
    _ range: Range<Int>, _ label: String, _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    let value = UnsafeBufferPointer(rebasing: text[range])
    switch action {
    case .label: try Array("[\(label)]".utf8).withElements(body)
    case .text(let replacement): try replacement.withElements(body)
    case .mask(let keep): try Self.mask(value, keeping: keep, monitor, body)
    case .hash(let key):
      let digits = try key.digits(of: value, monitor)
      try (Array("[\(label)_".utf8) + digits + "]".utf8).withElements(body)
    case .pseudonym(let names): try names.name(of: value, label: label, monitor).withElements(body)
    }
  }

  // MARK: - Actions

  private static func mask(
    _ value: UnsafeBufferPointer<UInt8>, keeping keep: Int, _ monitor: CallMonitor,
    _ body: (UnsafeBufferPointer<UInt8>) throws(BertQAError) -> Void
  ) throws(BertQAError) {
    var total = 0
    var characters = Characters(value, monitor)
    while let character = try characters.next() { total += character.isSecret ? 1 : 0 }
    let hidden = total - min(keep, total / 2)
    var seen = 0
    var part: [UInt8] = []
    characters = Characters(value, monitor)
    while let (range, isSecret) = try characters.next() {
      if isSecret { seen += 1 }
      if isSecret, seen <= hidden {
        part.append(UInt8(ascii: "*"))
      } else {
        part += value[range]
      }
      guard part.count >= CallPoll.textInterval else { continue }
      try part.withElements(body)
      part.removeAll(keepingCapacity: true)
    }
    try part.withElements(body)
  }

  /// Reads a text by grapheme clusters.
  private struct Characters {
    private let text: UnsafeBufferPointer<UInt8>
    private var poll: TextPoll
    private var scanner = GraphemeBreak.Scanner()
    private var position = 0
    /// The beginning of the cluster that is read, and whether it is secret so far.
    private var start = 0
    private var isSecret = false

    init(_ text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor) {
      self.text = text
      poll = TextPoll(monitor)
    }

    /// Returns the next cluster, and true unless it is white space or a punctuation mark; nil at the end.
    mutating func next() throws(BertQAError) -> (range: Range<Int>, isSecret: Bool)? {
      while position < text.count {
        try poll.reach(position)
        let unit = UTF8Codec.decode(text, at: position)
        let last = (range: start..<position, isSecret: isSecret)
        if scanner.isBoundary(before: GraphemeBreak.shared.properties(of: unit.scalar)) {
          start = position
          isSecret = false
        }
        // What joins a mark, such as a digit in a keycap, is part of it.
        isSecret =
          isSecret || !unit.isWhiteSpace && !UnicodeData.shared.properties(of: unit.scalar).isPunctuation
        position += unit.size
        if start > last.range.lowerBound { return last }
      }
      defer { start = position }
      return position > start ? (start..<position, isSecret) : nil
    }
  }

  /// Texts that look like names get names themselves, so that restoring gives them back. Their label does not come from
  /// the text, which may be secret.
  private static func names(
    in text: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor
  ) throws(BertQAError) -> [Entity] {
    var found: [Entity] = []
    try Pseudonyms.forEachName(in: text, monitor) { range throws(BertQAError) in
      let bytes = TextRange(start: range.lowerBound, end: range.upperBound)
      try found.makeRoom(for: 1, monitor)
      found.append(Entity(label: "LITERAL", bytes: bytes, codePoints: bytes, utf16: bytes, score: 1))
    }
    return found
  }
}

extension EntityList {
  /// Returns the text with each entity replaced by its label in brackets, such as "[PER]", or by what another action
  /// writes. Overlapping entities are replaced as one, with the label of the one that starts first; of several that
  /// start there, the longest. A character is replaced as a whole, with its marks, joiners and selectors, even if an
  /// entity has only a part of it. O(n) in the text, O(n log n) in the entities.
  /// - Parameter entities: of this text, in any order.
  public static func redact(
    _ text: UnsafeBufferPointer<UInt8>, _ entities: [Entity], _ action: RedactionAction = .label,
    call: CallOptions = CallOptions()
  ) throws(BertQAError) -> [UInt8] {
    let monitor = CallMonitor(call)
    let redaction = try Redaction(text, [entities], action, monitor)
    let count = try redaction.count()
    var result = try [UInt8](repeating: 0, count: count, monitor)
    try result.withMutableElements { bytes throws(BertQAError) in
      if let base = bytes.baseAddress { try redaction.write(to: base) }
    }
    return result
  }

  /// Returns the string with its entities replaced.
  public static func redact(
    _ text: String, _ entities: [Entity], _ action: RedactionAction = .label,
    call: CallOptions = CallOptions()
  ) throws(BertQAError) -> String {
    let bytes = try withBytes(of: text) { text throws(BertQAError) in
      try redact(text, entities, action, call: call)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns what replaces the entities of a text, in the order of the text, for a text that is spelled in another way.
  package static func replacements(
    in text: UnsafeBufferPointer<UInt8>, _ entities: [Entity], _ action: RedactionAction, call: CallOptions
  ) throws(BertQAError) -> [(range: Range<Int>, text: [UInt8])] {
    let monitor = CallMonitor(call)
    let redaction = try Redaction(text, [entities], action, monitor)
    var replacements: [(range: Range<Int>, text: [UInt8])] = []
    try redaction.forEachPlace { range, label throws(BertQAError) in
      var bytes: [UInt8] = []
      try redaction.replace(range, label) { part throws(BertQAError) in
        try bytes.makeRoom(for: part.count, monitor)
        bytes += part
      }
      try replacements.makeRoom(for: 1, monitor)
      replacements.append((range, bytes))
    }
    return replacements
  }
}
