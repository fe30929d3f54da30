extension ObjectReader {
  /// Far above any published classifier.
  static let labelLimit = 1...(1 << 16)

  /// The names in "id2label", by their ids; nil if there is no such member.
  func labels() throws(BertQAError) -> [String]? {
    guard let names = try reader("id2label") else { return nil }
    let members = names.object.members
    guard Self.labelLimit.contains(members.count) else {
      throw BertQAError(
        .invalidModel,
        "\(file): \"id2label\" has \(members.count) labels, expected \(Self.labelLimit.lowerBound) to "
          + "\(Self.labelLimit.upperBound)")
    }
    var labels = [String?](repeating: nil, count: members.count)
    for member in members {
      guard let id = Int(member.key), labels.indices.contains(id), labels[id] == nil else {
        throw BertQAError(
          .invalidModel,
          "\(file): \"id2label\" has the id \(quoted(member.key)), expected each of 0 to "
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
