/// The options and operands of a command in their original order.
struct ParsedArguments {
  /// The command as typed, for error messages: "bertqa answer".
  let command: String
  var options: [ParsedOption] = []
  var operands: [ArgumentText] = []

  func has(_ option: Option) -> Bool { options.contains { $0.option == option } }

  /// Returns the last occurrence of an option, which is the one that counts.
  func last(_ option: Option) -> ParsedOption? { options.last { $0.option == option } }

  func usage(_ message: String) -> ToolError { .usage(message, command: command) }

  /// Throws if one of the options is present without any of the others, without which it has no effect.
  func check(_ options: Option..., goWith others: [Option]) throws(ToolError) {
    guard let alone = options.first(where: has), !others.contains(where: has) else { return }
    throw usage("\(alone.spelling) needs \(others.map(\.spelling).joined(separator: " or "))")
  }

  /// Throws if an option is present that has no effect with another one.
  func check(_ option: Option, goesOnlyWith others: Set<Option>) throws(ToolError) {
    if has(option), let given = options.first(where: { $0.option != option && !others.contains($0.option) }) {
      throw usage("\(given.option.spelling) cannot be used with \(option.spelling)")
    }
  }
}

/// One option of the command line, with conversions of its value.
struct ParsedOption {
  let option: Option
  /// nil if the option has no value.
  let text: ArgumentText?
  let command: String

  var string: String { text?.string ?? "" }

  /// Returns the value as a path that is opened by a string.
  func path() throws(ToolError) -> String { try text?.path(option.spelling, command) ?? "" }

  func integer() throws(ToolError) -> Int {
    if let value = Int(string) { return value }
    throw wrong("a whole number")
  }

  func integer(in range: ClosedRange<Int>) throws(ToolError) -> Int {
    let value = try integer()
    if range.contains(value) { return value }
    let bounds =
      range.upperBound == Int.max
      ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    throw .usage("\(option.spelling) is \(value), but must be \(bounds)", command: command)
  }

  func unsigned() throws(ToolError) -> UInt64 {
    if let value = UInt64(string) { return value }
    throw wrong("a whole number from 0 on")
  }

  /// Parses a number of bytes, optionally in units of 1024 (K), 1024² (M) or 1024³ (G).
  func byteCount(in range: ClosedRange<Int>) throws(ToolError) -> Int {
    let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    let string = string
    let unit = string.last.flatMap { units[$0] }
    if let value = Int(unit == nil ? Substring(string) : string.dropLast()) {
      let (bytes, isTooLarge) = value.multipliedReportingOverflow(by: unit ?? 1)
      if !isTooLarge, range.contains(bytes) { return bytes }
    }
    throw wrong("a number of bytes, \(range.lowerBound) to \(range.upperBound), such as 64M")
  }

  /// Parses one ASCII character other than a quote or a line end; "\t" is a tab.
  func delimiter() throws(ToolError) -> UInt8 {
    let bytes = Array(string.utf8)
    if bytes.elementsEqual("\\t".utf8) { return UInt8(ascii: "\t") }
    if bytes.count == 1, !"\"\r\n".utf8.contains(bytes[0]) { return bytes[0] }
    throw wrong("one character")
  }

  func number() throws(ToolError) -> Float { Float(try double()) }

  func double() throws(ToolError) -> Double {
    if let value = Double(string), !value.isNaN { return value }
    throw wrong("a number")
  }

  /// Parses a time of 0 seconds or more. What is added to it, in nanoseconds, must not overflow.
  func seconds() throws(ToolError) -> Double {
    let value = try double()
    if value >= 0, value <= 1e9 { return value }
    throw .usage(
      "\(option.spelling) is \(string), but must be 0 seconds or more\(value > 0 ? ", at most 1000000000" : "")",
      command: command)
  }

  /// The names that commas separate, without white space around them. A name may be empty.
  var names: [String] {
    string.split(separator: ",", omittingEmptySubsequences: false).map { PlainText.trimmed(String($0)) }
  }

  /// Returns labels that are separated by commas.
  func labels() throws(ToolError) -> [String] {
    let labels = names.filter { !$0.isEmpty }
    if labels.isEmpty { throw wrong("labels, separated by commas") }
    return labels
  }

  /// Returns the case whose name is the value.
  func choice<Element: CaseIterable & RawRepresentable<String>>() throws(ToolError) -> Element {
    try choice(from: Element.allCases.map { (key: $0.rawValue, value: $0) })
  }

  /// Returns the element whose spelling is the value.
  func choice<Element>(
    from choices: some Collection<(key: String, value: Element)>,
    aliases: KeyValuePairs<String, Element> = [:]
  ) throws(ToolError) -> Element {
    let string = string
    for (name, element) in choices where name == string { return element }
    for (name, element) in aliases where name == string { return element }
    throw wrong(choices.map(\.key).joined(separator: ", "))
  }

  func wrong(_ expected: String) -> ToolError {
    .usage("\(option.spelling) takes \(expected), not '\(string)'", command: command)
  }
}
