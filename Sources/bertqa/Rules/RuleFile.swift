import BertQACore

/// A file of rules: `{"rules": [{"name": "STAFF", "expression": "E-\\d{6}", "checksum": "luhn", "context": ["staff"]}]}`.
struct RuleFile {
  private let shown: String
  private let bytes: UnsafeBufferPointer<UInt8>
  private let pcre2: PCRE2Library

  private static let keys = ["name", "expression", "checksum", "context"]
  private static let mostNameBytes = 64

  /// Returns the rules of a file.
  /// - Parameter shown: the file's name, for messages.
  static func rules(_ bytes: [UInt8], shown: String) throws(ToolError) -> [Rule] {
    let pcre2 = try PCRE2Library()
    return try bytes.withElements { bytes throws(ToolError) in
      try RuleFile(shown: shown, bytes: bytes, pcre2: pcre2).rules()
    }
  }

  private func rules() throws(ToolError) -> [Rule] {
    var scanner = JSONScanner(paths: [FieldPath(member: Array("rules".utf8))])
    do throws(JSONScanner.Flaw) {
      try scanner.scan(bytes, 0..<bytes.count)
    } catch {
      throw wrong(error.position, "not valid JSON: \(error.what)")
    }
    guard bytes.isValidUTF8 else { throw ToolError(.input, "\(shown) is not valid UTF-8") }
    let json: JSON
    do throws(BertQAError) {
      json = try JSONParser.parse(bytes, file: shown)
    } catch {
      throw ToolError(.input, error.detail)
    }
    guard case .object(let object) = json, object.members.count == 1,
      case .array(let rules)? = object["rules"]
    else {
      throw wrong(
        scanner.values[0]?.range.lowerBound ?? 0, "expected an object with one member, the array \"rules\"")
    }
    var result: [Rule] = []
    for (index, rule) in rules.enumerated() {
      do throws(Mistake) {
        result.append(try self.rule(rule))
      } catch {
        throw wrong(place(of: error, inRule: index), error.what)
      }
    }
    return result
  }

  /// What is wrong with a rule.
  private struct Mistake: Error {
    /// nil: the rule as a whole.
    var member: String?
    /// The byte of the member's string; nil: the member as a whole.
    var offset: Int?
    let what: String
  }

  /// Reads the file again.
  private func place(of mistake: Mistake, inRule index: Int) -> Int {
    let rule = "rules.\(index)"
    let paths = [rule, mistake.member.map { "\(rule).\($0)" } ?? rule].compactMap { FieldPath($0) }
    var scanner = JSONScanner(paths: paths)
    // The file is valid.
    try? scanner.scan(bytes, 0..<bytes.count)
    let starts = scanner.values.map { $0?.range.lowerBound }
    let start = starts[1] ?? starts[0] ?? 0
    return start + (mistake.offset.map { spelledLength(of: $0, at: start) } ?? 0)
  }

  private func rule(_ json: JSON) throws(Mistake) -> Rule {
    guard case .object(let object) = json else {
      throw Mistake(what: "expected a rule, which is an object")
    }
    for (index, member) in object.members.enumerated() {
      guard Self.keys.contains(member.key) else {
        throw Mistake(
          what: "the rule has the unknown member \"\(PlainText.of(member.key))\"; it may have "
            + Self.keys.joined(separator: ", "))
      }
      if object.members[..<index].contains(where: { $0.key == member.key }) {
        throw Mistake(what: "the rule has \"\(member.key)\" twice")
      }
    }
    let name = try string("name", object)
    guard let name, name.utf8.count <= Self.mostNameBytes, !name.isEmpty,
      name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F && $0 != "[" && $0 != "]" })
    else {
      throw Mistake(
        member: "name",
        what:
          "a rule needs a name of 1 to \(Self.mostNameBytes) bytes without brackets and control characters")
    }
    guard let expression = try string("expression", object), !expression.isEmpty else {
      throw Mistake(member: "expression", what: "a rule needs an expression")
    }
    return Rule(
      name: name, expression: try compiled(expression),
      checksum: try checksum(try string("checksum", object)), context: try context(object["context"]))
  }

  private func string(_ key: String, _ object: JSON.Object) throws(Mistake) -> String? {
    switch object[key] {
    case nil: return nil
    case .string(let text): return text
    default: throw Mistake(member: key, what: "\"\(key)\" must be a string")
    }
  }

  private func compiled(_ expression: String) throws(Mistake) -> RegularExpression {
    do throws(RegularExpression.Mistake) {
      return try RegularExpression(Array(expression.utf8), pcre2)
    } catch {
      throw Mistake(member: "expression", offset: error.offset, what: "the expression: \(error.what)")
    }
  }

  /// Returns the bytes from the quote of a string up to a byte of the string.
  private func spelledLength(of offset: Int, at quote: Int) -> Int {
    let spelled = UnsafeBufferPointer(rebasing: bytes[quote...])
    var (position, rest) = (1, offset)
    while rest > 0 {
      let unit = JSONText.unit(spelled, at: position)
      position += unit.spelled
      rest -= unit.text
    }
    return position
  }

  private func checksum(_ name: String?) throws(Mistake) -> (String, Checksum)? {
    guard let name else { return nil }
    do throws(BertQAError) {
      return (name, try Checksum(named: name))
    } catch {
      throw Mistake(member: "checksum", what: "\"checksum\" \(error.detail)")
    }
  }

  private func context(_ json: JSON?) throws(Mistake) -> RegularExpression? {
    guard let json else { return nil }
    var words: [String] = []
    if case .array(let items) = json {
      for case .string(let word) in items where !word.isEmpty { words.append(word) }
      if words.count != items.count { words = [] }
    }
    guard !words.isEmpty else {
      throw Mistake(member: "context", what: "\"context\" must be an array of words")
    }
    // Every other character by its number, so that none is an operator.
    let quoted = words.map { word in
      word.unicodeScalars.map {
        $0.properties.isAlphabetic || $0.value > 0x7F ? "\($0)" : "\\x{\(String($0.value, radix: 16))}"
      }
      .joined()
    }
    let expression = "(?<!\\w)(?:\(quoted.joined(separator: "|")))(?!\\w)"
    do throws(RegularExpression.Mistake) {
      return try RegularExpression(Array(expression.utf8), isCaseless: true, pcre2)
    } catch {
      throw Mistake(member: "context", what: "\"context\": \(error.what)")
    }
  }

  private func wrong(_ position: Int, _ what: String) -> ToolError {
    let before = bytes[..<min(position, bytes.count)]
    let line = 1 + before.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = 1 + String(decoding: before[start...], as: UTF8.self).unicodeScalars.count
    return ToolError(.input, "\(shown): line \(line), column \(column): \(what)")
  }
}
