/// A model's labels, taken apart once, and which of them a call is after.
struct EntityLabels: Sendable {
  struct Label: Sendable {
    let name: String
    /// Of what B- and I- stand before, or the whole name: labels of one tag have the same number.
    let tag: Int
    /// Begins another entity though the tag is the same.
    let begins: Bool
    /// What an entity is called that begins with this label.
    let group: String
  }

  private(set) var labels: [Label] = []

  var count: Int { labels.count }

  init(_ names: [String]) {
    var numbers: [String: Int] = [:]
    for name in names {
      let hasPrefix = name.hasPrefix("B-") || name.hasPrefix("I-")
      let tag = hasPrefix ? String(name.dropFirst(2)) : name
      let number = numbers[tag, default: numbers.count]
      numbers[tag] = number
      // transformers groups by the tag, but names a group by what follows the label's first hyphen.
      let group = name.firstIndex(of: "-").map { String(name[name.index(after: $0)...]) } ?? name
      labels.append(Label(name: name, tag: number, begins: name.hasPrefix("B-"), group: group))
    }
  }

  subscript(id: Int) -> Label { labels[id] }

  /// What an entity is called that begins with label `id`.
  func title(_ id: Int, _ aggregation: TokenAggregation) -> String {
    aggregation == .none ? labels[id].name : labels[id].group
  }

  /// By label: whether entities that begin with it are given.
  func isWanted(_ options: EntityOptions, _ aggregation: TokenAggregation) throws(BertQAError) -> [Bool] {
    for (index, name) in options.labels.enumerated() {
      guard !labels.contains(where: { $0.name == name || $0.group == name }) else { continue }
      var known: [String] = []
      for label in labels where !known.contains(label.group) { known.append(label.group) }
      throw BertQAError(
        .invalidArgument, argument: "labels",
        "has \(quoted(name)) at \(index), but the model's labels are "
          + known.prefix(32).map(quoted).joined(separator: ", "))
    }
    var wanted = Set(options.labels)
    // "I-PER" asks for entities of "PER", where tokens are not entities by themselves.
    if aggregation != .none {
      wanted.formUnion(labels.filter { wanted.contains($0.name) }.map(\.group))
    }
    let ignored = Set(options.ignoredLabels)
    return labels.indices.map { id in
      let title = title(id, aggregation)
      if ignored.contains(title), !wanted.contains(title) { return false }
      return wanted.isEmpty || wanted.contains(title) || wanted.contains(labels[id].group)
    }
  }
}
