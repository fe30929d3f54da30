/// A strict reader of JSON (RFC 8259): UTF-8 only, no comments, no trailing commas, no NaN. Takes time linear
/// in the text; `Limits` bounds the memory.
package struct JSONParser {
  package struct Limits {
    /// The maximum nesting of arrays and objects. It also bounds the stack.
    package var depth: Int
    /// The maximum number of values of any kind. Each takes at most 40 bytes of memory, not counting the text
    /// of strings.
    package var values: Int
    /// The maximum size of the text in bytes.
    package var bytes: Int

    package init(depth: Int = 64, values: Int = 4_000_000, bytes: Int = 100_000_000) {
      self.depth = depth
      self.values = values
      self.bytes = bytes
    }
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private let file: String
  private let limits: Limits
  private var poll: TextPoll
  private var position = 0
  private var valueCount = 0

  private init(
    _ bytes: UnsafeBufferPointer<UInt8>, file: String, limits: Limits, _ monitor: CallMonitor?
  ) {
    self.bytes = bytes
    self.file = file
    self.limits = limits
    poll = TextPoll(monitor)
  }

  /// Parses `bytes`. Errors name `file`.
  package static func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, file: String, limits: Limits = Limits(),
    _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> JSON {
    var parser = JSONParser(bytes, file: file, limits: limits, monitor)
    guard bytes.count <= limits.bytes else {
      throw BertQAError(
        .tooLarge, "\(file): \(bytes.count) bytes of JSON, expected at most \(limits.bytes)")
    }
    // A value takes at least two bytes of text and at most 40 bytes of memory.
    try Memory.require(24 * bytes.count)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.error("expected the end of the text") }
    return value
  }

  static func parse(_ file: ModelFile, _ monitor: CallMonitor?) throws(BertQAError) -> JSON {
    try file.withBytes { bytes throws(BertQAError) in try parse(bytes, file: file.path, monitor) }
  }

  private func error(_ what: String, at offset: Int? = nil) -> BertQAError {
    BertQAError(.invalidModel, "\(file): not valid JSON at byte \(offset ?? position): \(what)")
  }

  /// The byte at the position; 0, which starts no JSON token, at the end.
  private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
      default: return
      }
    }
  }

  /// Skips white space, then takes `byte` if it comes next.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    position &+= 1
    return true
  }

  private mutating func value(depth: Int) throws(BertQAError) -> JSON {
    valueCount &+= 1
    try poll.reach(position)
    guard valueCount <= limits.values else { throw error("more than \(limits.values) values") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard depth < limits.depth else { throw error("nested deeper than \(limits.depth) levels") }
      return next == UInt8(ascii: "{") ? try object(depth: depth) : try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default: throw error("expected a value")
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSON) throws(BertQAError) -> JSON {
    let end = position + text.utf8CodeUnitCount
    let word = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard end <= bytes.count, bytes[position..<end].elementsEqual(word) else {
      throw error("expected a value")
    }
    position = end
    return value
  }

  private mutating func array(depth: Int) throws(BertQAError) -> JSON {
    position &+= 1
    var elements: [JSON] = []
    if take(UInt8(ascii: "]")) { return .array(elements) }
    repeat { elements.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw error("expected ',' or ']'") }
    return .array(elements)
  }

  private mutating func object(depth: Int) throws(BertQAError) -> JSON {
    position &+= 1
    var object = JSON.Object()
    if take(UInt8(ascii: "}")) { return .object(object) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error("expected a key in quotes") }
      let key = try string()
      guard take(UInt8(ascii: ":")) else { throw error("expected ':'") }
      object.members.append(.init(key: key, value: try value(depth: depth + 1)))
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw error("expected ',' or '}'") }
    return .object(object)
  }
}

// MARK: - Strings and numbers

extension JSONParser {
  /// Reads a string, starting at its opening quote.
  private mutating func string() throws(BertQAError) -> String {
    let start = position
    position &+= 1
    let runStart = position
    skipPlainText()
    if next == UInt8(ascii: "\"") {
      let run = UnsafeBufferPointer(rebasing: bytes[runStart..<position])
      position &+= 1
      return try validated(run, from: start)
    }
    var text = Array(bytes[runStart..<position])
    while next == UInt8(ascii: "\\") {
      try poll.reach(position)
      try escape(into: &text)
      let runStart = position
      skipPlainText()
      text += bytes[runStart..<position]
    }
    guard next == UInt8(ascii: "\"") else {
      throw position < bytes.count
        ? error("control character in a string") : error("unterminated string", at: start)
    }
    position &+= 1
    return try text.withElements { run throws(BertQAError) in
      try validated(run, from: start)
    }
  }

  /// Moves to the next quote, backslash or control character.
  private mutating func skipPlainText() {
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return }
      position &+= 1
    }
  }

  private func validated(
    _ text: UnsafeBufferPointer<UInt8>, from start: Int
  ) throws(BertQAError) -> String {
    guard let string = String(validating: text, as: UTF8.self) else {
      throw error("string is not valid UTF-8", at: start)
    }
    return string
  }

  /// Reads one escape sequence, starting at its backslash.
  private mutating func escape(into text: inout [UInt8]) throws(BertQAError) {
    let start = position
    position &+= 1
    let kind = next
    position &+= 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var code = try hexadecimal(from: start)
      if code & 0xFC00 == 0xD800, next == UInt8(ascii: "\\") {
        position &+= 1
        guard next == UInt8(ascii: "u") else { throw error("lone surrogate", at: start) }
        position &+= 1
        let low = try hexadecimal(from: start)
        guard low & 0xFC00 == 0xDC00 else { throw error("lone surrogate", at: start) }
        code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
      }
      guard let scalar = Unicode.Scalar(code) else { throw error("lone surrogate", at: start) }
      text += UTF8.encode(scalar).map(Array.init) ?? []
    default: throw error("unknown escape", at: start)
    }
  }

  private mutating func hexadecimal(from start: Int) throws(BertQAError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      let byte = next
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt32(byte - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): code = code << 4 | UInt32(byte - 0x57)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt32(byte - 0x37)
      default: throw error("expected four hexadecimal digits", at: start)
      }
      position &+= 1
    }
    return code
  }

  private mutating func number() throws(BertQAError) -> JSON.Number {
    let start = position
    let isNegative = next == UInt8(ascii: "-")
    if isNegative { position &+= 1 }
    var integer: Int64? = 0
    let digitStart = position
    while let digit = takeDigit() {
      // Counts downwards because the negative range is larger by one.
      let tens = integer?.multipliedReportingOverflow(by: 10)
      let sum = tens?.partialValue.subtractingReportingOverflow(Int64(digit))
      integer = tens?.overflow == false && sum?.overflow == false ? sum?.partialValue : nil
    }
    let digits = position - digitStart
    guard digits == 1 || digits > 1 && bytes[digitStart] != UInt8(ascii: "0") else {
      throw error("malformed number", at: start)
    }
    if !isNegative, let value = integer { integer = value == .min ? nil : -value }
    if next == UInt8(ascii: ".") {
      position &+= 1
      integer = nil
      try takeDigits(from: start)
    }
    if next | 0x20 == UInt8(ascii: "e") {
      position &+= 1
      integer = nil
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position &+= 1 }
      try takeDigits(from: start)
    }
    if let integer { return JSON.Number(double: Double(integer), integer: integer) }
    // Swift's conversion does not depend on the locale, unlike strtod.
    guard position - start <= 400,
      let double = Double(String(decoding: bytes[start..<position], as: UTF8.self)),
      double.isFinite
    else { throw error("number out of range", at: start) }
    return JSON.Number(double: double, integer: nil)
  }

  private mutating func takeDigit() -> UInt8? {
    let digit = next &- UInt8(ascii: "0")
    guard digit < 10 else { return nil }
    position &+= 1
    return digit
  }

  /// Takes one or more digits.
  private mutating func takeDigits(from start: Int) throws(BertQAError) {
    guard takeDigit() != nil else { throw error("malformed number", at: start) }
    while takeDigit() != nil {}
  }
}
