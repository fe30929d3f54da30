extension JSON {
  /// The value as JSON text, with one member or element per line.
  var text: String {
    var text = ""
    write(to: &text, indent: "\n")
    return text
  }

  private func write(to text: inout String, indent: String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let number): text += number.integer.map { "\($0)" } ?? "\(number.double)"
    case .string(let string): Self.write(string, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        text += (index == 0 ? "" : ",") + indent + "  "
        element.write(to: &text, indent: indent + "  ")
      }
      text += elements.isEmpty ? "]" : indent + "]"
    case .object(let object):
      text += "{"
      for (index, member) in object.members.enumerated() {
        text += (index == 0 ? "" : ",") + indent + "  "
        Self.write(member.key, to: &text)
        text += ": "
        member.value.write(to: &text, indent: indent + "  ")
      }
      text += object.members.isEmpty ? "}" : indent + "}"
    }
  }

  static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSON {
  static func number(_ value: Int) -> JSON {
    .number(Number(double: Double(value), integer: Int64(value)))
  }

  static func number(_ value: Double) -> JSON { .number(Number(double: value, integer: nil)) }
}

extension JSON.Object {
  /// The labels of a classifier by their numbers, as `id2label` has them.
  init(labels: [String]) {
    for (id, label) in labels.enumerated() {
      members.append(Member(key: "\(id)", value: .string(label)))
    }
  }
}
