import BertQACore

/// How many entities of each label were found.
struct EntityCounts {
  private var counts: [ExactString: Int] = [:]

  init() {}

  init(_ list: EntityList) {
    for entity in list.entities { counts[ExactString(entity.label), default: 0] += 1 }
  }

  mutating func add(_ others: EntityCounts) {
    for (label, count) in others.counts { counts[label, default: 0] += count }
  }

  /// Returns the counts as JSON, in the order of the labels.
  func report(textCount: Int) -> String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.integer("texts", textCount)
      writer.object("entities") { writer in
        for (label, count) in sorted {
          writer.integer(label, count)
        }
      }
    }
    return String(decoding: writer.takeLine(), as: UTF8.self)
  }

  private var sorted: [(key: String, value: Int)] {
    counts.map { (key: $0.key.string, value: $0.value) }.sorted {
      $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
    }
  }

  // MARK: - In a checkpoint

  private static let prefix = "entities_"

  /// A name without white space, and the value, of each count.
  var entries: [(name: String, value: Int)] {
    sorted.map { label, count in (Self.prefix + HexDigits.of(label.utf8), count) }
  }

  /// Restores the counts from `entries`, which may have others.
  init(_ entries: [String: Int]) {
    for (name, count) in entries where name.hasPrefix(Self.prefix) {
      guard let bytes = HexDigits.bytes(name.dropFirst(Self.prefix.count)) else { continue }
      counts[ExactString(String(decoding: bytes, as: UTF8.self)), default: 0] += count
    }
  }
}
