/// A command's report: named values, printed one a line or as a JSON object.
struct Facts {
  enum Value {
    case text(String)
    case list([String])
    case integer(Int)
    case number(Float)
    case boolean(Bool)
  }

  private let facts: [(name: String, value: Value)]

  init(_ facts: [(String, Value)]) { self.facts = facts }

  func print(asJSON: Bool, to output: Output) {
    if asJSON {
      var writer = JSONWriter()
      writer.object { writer in
        writer.members(facts)
      }
      return output.write(writer.takeLine())
    }
    output.write(lines())
  }

  /// Returns one fact a line.
  func lines() -> [UInt8] {
    // A name may be that of a model's prompt.
    let names = facts.map { PlainText.of($0.name) }
    let width = names.map(\.utf8.count).max() ?? 0
    var lines: [UInt8] = []
    for (name, value) in zip(names, facts.map(\.value)) {
      lines += Array(name.utf8)
      lines += Array(repeating: UInt8(ascii: " "), count: width + 2 - name.utf8.count)
      PlainText.append(value.text.utf8, to: &lines)
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }
}

extension Facts.Value {
  fileprivate var text: String {
    switch self {
    case .text(let value): return value
    case .list(let values): return values.joined(separator: ", ")
    case .integer(let value): return String(value)
    case .number(let value): return value.description
    case .boolean(let value): return value ? "yes" : "no"
    }
  }

  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .text(let value): writer.string(value)
    case .list(let values): writer.array { writer in for value in values { writer.string(value) } }
    case .integer(let value): writer.integer(value)
    case .number(let value): writer.number(value)
    case .boolean(let value): writer.boolean(value)
    }
  }
}

extension JSONWriter {
  mutating func members(_ facts: [(name: String, value: Facts.Value)]) {
    for (name, value) in facts {
      key(name)
      value.write(to: &self)
    }
  }
}
