extension ModelConfiguration {
  /// Far above any published classifier.
  private static let labelLimit = 1...(1 << 16)

  /// Reads what a classifier's outputs are called and mean, as transformers decides it.
  mutating func readLabels(_ reader: ObjectReader) throws(BertQAError) {
    labels = try Self.labels(reader)
    switch try reader.string("problem_type") {
    case nil: problemType = labels.count == 1 ? .regression : .singleLabel
    case "single_label_classification": problemType = .singleLabel
    case "multi_label_classification": problemType = .multiLabel
    case "regression": problemType = .regression
    case let other?:
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"problem_type\" is \(quoted(other)), expected \"single_label_classification\", "
          + "\"multi_label_classification\" or \"regression\"")
    }
  }

  /// "id2label", else LABEL_0, LABEL_1 and so on, two of them unless "num_labels" says otherwise.
  private static func labels(_ reader: ObjectReader) throws(BertQAError) -> [String] {
    let count = try reader.integer("num_labels", in: labelLimit)
    guard let names = try reader.reader("id2label") else {
      return (0..<(count ?? 2)).map { "LABEL_\($0)" }
    }
    let members = names.object.members
    guard labelLimit.contains(members.count) else {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"id2label\" has \(members.count) labels, expected \(labelLimit.lowerBound) to "
          + "\(labelLimit.upperBound)")
    }
    if let count, count != members.count {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"num_labels\" is \(count), but \"id2label\" has \(members.count) labels")
    }
    var labels = [String?](repeating: nil, count: members.count)
    for member in members {
      guard let id = Int(member.key), labels.indices.contains(id), labels[id] == nil else {
        throw BertQAError(
          .invalidModel,
          "\(reader.file): \"id2label\" has the id \(quoted(member.key)), expected each of 0 to "
            + "\(members.count - 1) once")
      }
      guard case .string(let label) = member.value else {
        throw names.mismatch(member.key, member.value, expected: "a label's name")
      }
      labels[id] = label
    }
    return labels.compactMap(\.self)
  }
}
