extension ModelConfiguration {
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
    let count = try reader.integer("num_labels", in: ObjectReader.labelLimit)
    guard let labels = try reader.labels() else {
      return (0..<(count ?? 2)).map { "LABEL_\($0)" }
    }
    if let count, count != labels.count {
      throw BertQAError(
        .invalidModel,
        "\(reader.file): \"num_labels\" is \(count), but \"id2label\" has \(labels.count) labels")
    }
    return labels
  }
}
