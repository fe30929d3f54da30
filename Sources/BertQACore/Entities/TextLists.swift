/// Texts that redaction never touches, and texts that it always replaces. They are compared by their words: in any
/// case, with any spaces and marks between words and at the ends.
public struct TextLists: Sendable {
  fileprivate var allowed = PhraseTree()
  fileprivate var denied = PhraseTree()

  /// The label of denied texts.
  public static let deniedLabel = "DENIED"

  /// - Parameters:
  ///   - allow: texts within which entities are omitted; each of 1 to 16 words.
  ///   - deny: texts that become entities; each of 1 to 16 words.
  public init(
    allow: [String] = [], deny: [String] = [], call: CallOptions = CallOptions()
  ) throws(BertQAError) {
    let monitor = CallMonitor(call)
    try Self.add(allow, "allow", to: &allowed, monitor)
    try Self.add(deny, "deny", to: &denied, monitor)
  }

  private static func add(
    _ texts: [String], _ name: String, to tree: inout PhraseTree, _ monitor: CallMonitor
  ) throws(BertQAError) {
    var poll = TextPoll(monitor)
    for (index, text) in texts.enumerated() {
      let isAdded = try withBytes(of: text) { bytes throws(BertQAError) in
        try tree.add(bytes, 0..<bytes.count, number: index, monitor, &poll)
      }
      guard isAdded else {
        throw BertQAError(
          .invalidArgument, argument: name,
          "has a text without words, or with more than \(PhraseTree.mostWords), at \(index)")
      }
    }
  }
}

extension EntityList {
  /// Returns the list without the entities within an allowed text, and with the denied texts that are not within an
  /// entity, even if they are allowed, labelled "DENIED". Takes time linear in the text.
  /// - Parameter text: the text of the list.
  public func applying(
    _ lists: TextLists, in text: UnsafeBufferPointer<UInt8>, call: CallOptions = CallOptions()
  ) throws(BertQAError) -> EntityList {
    let monitor = CallMonitor(call)
    try monitor.checkNow()
    var kept = self
    kept.entities = try [Entity](resultCapacity: entities.count, monitor)
    var next = 0
    // An entity may begin and end with marks, such as the + of a number, which no phrase has.
    var (first, behind) = (WordStarts(text, monitor), WordStarts(text, monitor))
    try lists.allowed.forEach(in: text, monitor) { place, _ throws(BertQAError) in
      while next < entities.count, entities[next].bytes.start < place.upperBound {
        let bytes = entities[next].bytes
        let word = try first.first(from: bytes.start)
        let start = word < bytes.end ? word : bytes.start
        if start >= place.upperBound { return }
        let end = bytes.end <= place.upperBound ? bytes.end : try behind.first(from: place.upperBound)
        if start < place.lowerBound || bytes.end > end { kept.entities.append(entities[next]) }
        next += 1
      }
    }
    kept.entities += entities[next...]
    return try kept.adding(in: text, monitor, lists.denied) { _ in
      (TextLists.deniedLabel, 1, EntityReason(rule: "deny"))
    }
  }
}
