/// A model's parsed labels, and the selection of a call.
struct EntityLabels: Sendable {
  struct Label: Sendable {
    let name: String
    /// The number of the name after B- or I-, or of the whole name. Labels with the same tag have the same
    /// number.
    let tag: Int
    /// True if the label always starts another entity, even after the same tag.
    let begins: Bool
    /// The label of an entity that starts with this label.
    let group: String
  }

  private(set) var labels: [Label] = []

  var count: Int { labels.count }

  init(_ names: [String]) {
    var numbers: [ExactString: Int] = [:]
    for name in names {
      let hasPrefix = name.hasPrefix("B-") || name.hasPrefix("I-")
      let tag = ExactString(hasPrefix ? String(name.dropFirst(2)) : name)
      let number = numbers[tag, default: numbers.count]
      numbers[tag] = number
      // transformers groups by the tag, but names a group by the part of the label after its first hyphen.
      let group = name.firstIndex(of: "-").map { String(name[name.index(after: $0)...]) } ?? name
      labels.append(Label(name: name, tag: number, begins: name.hasPrefix("B-"), group: group))
    }
  }

  subscript(id: Int) -> Label { labels[id] }

  /// Returns the label of an entity that starts with label `id`.
  func title(_ id: Int, _ aggregation: TokenAggregation) -> String {
    aggregation == .none ? labels[id].name : labels[id].group
  }

  /// Returns, for each label, the lowest score of entities that start with it; nil if the result includes none of them.
  func thresholds(_ options: EntityOptions, _ aggregation: TokenAggregation) throws(BertQAError) -> [Float?] {
    for (index, name) in options.labels.enumerated() {
      let wanted = ExactString(name)
      let isKnown = labels.contains { ExactString($0.name) == wanted || ExactString($0.group) == wanted }
      if isKnown { continue }
      var seen: Set<ExactString> = []
      let known = labels.map(\.group).filter { seen.insert(ExactString($0)).inserted }
      throw BertQAError(
        .invalidArgument, argument: "labels",
        "has \(quoted(name)) at \(index), but the model's labels are "
          + known.prefix(32).map(quoted).joined(separator: ", "))
    }
    var wanted: [ExactString: Float] = [:]
    for (index, name) in options.labels.enumerated() where wanted[ExactString(name)] == nil {
      wanted[ExactString(name)] = options.threshold(ofLabelAt: index)
    }
    // "I-PER" selects entities of "PER", unless each token is an entity.
    if aggregation != .none {
      for label in labels where wanted[ExactString(label.group)] == nil {
        wanted[ExactString(label.group)] = wanted[ExactString(label.name)]
      }
    }
    let ignored = Set(options.ignoredLabels.map { ExactString($0) })
    return labels.indices.map { id in
      let title = ExactString(title(id, aggregation))
      if wanted.isEmpty { return ignored.contains(title) ? nil : options.threshold }
      if ignored.contains(title), wanted[title] == nil { return nil }
      return wanted[title] ?? wanted[ExactString(labels[id].group)]
    }
  }
}
