import BertQACore

/// Writes JSON values to a buffer. The caller is responsible for the nesting.
struct JSONWriter {
  private var output: ResultBytes
  /// True keeps invalid UTF-8 unchanged, as in the record that the text comes from. Otherwise U+FFFD replaces
  /// each invalid sequence.
  var keepsInvalid = false
  private var needsComma = false

  var bytes: [UInt8] { output.bytes }
  var failure: BertQAError? { output.failure }

  /// - Parameter monitor: that of the call whose result is written.
  init(_ monitor: CallMonitor? = nil) { output = ResultBytes(monitor) }

  mutating func object(_ body: (inout JSONWriter) -> Void) { enclosed("{", "}", body) }
  mutating func array(_ body: (inout JSONWriter) -> Void) { enclosed("[", "]", body) }

  /// Writes the key of an object member. The value must follow.
  mutating func key(_ name: String) {
    string(name.utf8)
    append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func null() { element { $0.append("null") } }
  mutating func boolean(_ value: Bool) { element { $0.append(value ? "true" : "false") } }
  mutating func integer(_ value: some BinaryInteger) { element { $0.appendDigits(Int(clamping: value)) } }

  /// Writes the shortest decimal that reads back as the same number, or null if the number is not finite.
  mutating func number(_ value: Float) {
    element { $0.append(value.isFinite ? value.description : "null") }
  }

  /// Writes text that is already JSON.
  mutating func literal(_ json: String) { element { $0.append(json) } }
  mutating func literal(_ json: [UInt8]) {
    element { if $0.output.hasRoom(for: json.count) { $0.output.append(json) } }
  }

  mutating func string(_ text: String) { string(text.utf8) }

  mutating func string(_ text: some Collection<UInt8>) {
    element { writer in
      writer.append(UInt8(ascii: "\""))
      if text.withContiguousStorageIfAvailable({ writer.appendIfPlain($0) }) == true {
      } else if writer.keepsInvalid {
        for byte in text where writer.output.hasRoom(for: 6) { writer.appendCharacter(byte) }
      } else if writer.output.hasRoom(for: 3 * text.count) {
        // An invalid byte becomes three.
        for byte in String(decoding: text, as: UTF8.self).utf8 where writer.output.hasRoom(for: 6) {
          writer.appendCharacter(byte)
        }
      }
      writer.append(UInt8(ascii: "\""))
    }
  }

  /// Writes a string, or null for nil.
  mutating func optional(_ text: (some Collection<UInt8>)?) {
    if let text { string(text) } else { null() }
  }

  /// Writes a range as [start, end].
  mutating func range(_ range: TextRange) {
    array {
      $0.integer(range.start)
      $0.integer(range.end)
    }
  }

  /// Ends a line and returns it.
  mutating func takeLine() -> [UInt8] {
    append("\n")
    return take()
  }

  /// Returns the output and clears the buffer.
  mutating func take() -> [UInt8] {
    needsComma = false
    defer { output.bytes.removeAll(keepingCapacity: true) }
    return bytes
  }

  private mutating func enclosed(
    _ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) -> Void
  ) {
    element { writer in
      writer.append(open.description)
      writer.needsComma = false
      body(&writer)
      writer.append(close.description)
    }
  }

  private mutating func element(_ body: (inout JSONWriter) -> Void) {
    if needsComma { append(UInt8(ascii: ",")) }
    body(&self)
    needsComma = true
  }

  private mutating func append(_ byte: UInt8) {
    if output.hasRoom(for: 1) { output.append(byte) }
  }

  private mutating func append(_ text: String) {
    if output.hasRoom(for: text.utf8.count) { output.append(text.utf8) }
  }

  /// The fast path: appends ASCII that needs no escapes. Returns false, without effect, for other strings.
  private mutating func appendIfPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    for byte in text {
      guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        return false
      }
    }
    if output.hasRoom(for: text.count) { output.append(text) }
    return true
  }

  private mutating func appendDigits(_ value: Int) {
    guard output.hasRoom(for: 20) else { return }
    if value < 0 { output.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = output.bytes.count
    repeat {
      output.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    output.bytes[start...].reverse()
  }

  private mutating func appendCharacter(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case UInt8(ascii: "\n"): append("\\n")
    case UInt8(ascii: "\r"): append("\\r")
    case UInt8(ascii: "\t"): append("\\t")
    case 0..<0x20, 0x7F:
      let digits = String(byte, radix: 16)
      append(digits.utf8.count == 1 ? "\\u000\(digits)" : "\\u00\(digits)")
    default: output.append(byte)
    }
  }
}

// MARK: - Members of an object

extension JSONWriter {
  mutating func string(_ name: String, _ text: String) { string(name, text.utf8) }

  mutating func string(_ name: String, _ text: some Collection<UInt8>) {
    key(name)
    string(text)
  }

  mutating func optional(_ name: String, _ text: (some Collection<UInt8>)?) {
    key(name)
    optional(text)
  }

  mutating func boolean(_ name: String, _ value: Bool) {
    key(name)
    boolean(value)
  }

  mutating func integer(_ name: String, _ value: some BinaryInteger) {
    key(name)
    integer(value)
  }

  mutating func number(_ name: String, _ value: Float) {
    key(name)
    number(value)
  }

  mutating func range(_ name: String, _ range: TextRange) {
    key(name)
    self.range(range)
  }

  mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    array(body)
  }

  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    object(body)
  }

  /// Writes the members for a part of a text: the part and its position.
  mutating func place(
    _ bytes: TextRange, _ codePoints: TextRange, _ utf16: TextRange, in text: UnsafeBufferPointer<UInt8>?
  ) {
    if let text { string("text", text[bytes.start..<bytes.end]) }
    range("bytes", bytes)
    range("code_points", codePoints)
    range("utf16", utf16)
  }
}

extension JSONWriter {
  /// Returns the text as spelled inside quotes. Invalid bytes stay.
  static func spelled(_ text: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.keepsInvalid = true
    writer.string(text)
    return Array(writer.take().dropFirst().dropLast())
  }
}
