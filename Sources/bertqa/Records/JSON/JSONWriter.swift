import BertQACore

/// Writes JSON into a buffer, one value after the other; the caller sees to the nesting.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  /// Whether invalid UTF-8 stays as it is, as in the record that the text is from; else each sequence of it becomes
  /// U+FFFD.
  var keepsInvalid = false
  private var needsComma = false

  mutating func object(_ body: (inout JSONWriter) -> Void) { enclosed("{", "}", body) }
  mutating func array(_ body: (inout JSONWriter) -> Void) { enclosed("[", "]", body) }

  /// A member of an object: to be followed by its value.
  mutating func key(_ name: String) {
    string(name.utf8)
    append(":")
    needsComma = false
  }

  mutating func null() { element { $0.append("null") } }
  mutating func boolean(_ value: Bool) { element { $0.append(value ? "true" : "false") } }
  mutating func integer(_ value: some BinaryInteger) { element { $0.appendDigits(Int(clamping: value)) } }

  /// The shortest decimal that reads back as the same number; null for what JSON cannot say.
  mutating func number(_ value: Float) {
    element { $0.append(value.isFinite ? value.description : "null") }
  }

  /// What is JSON already.
  mutating func literal(_ json: String) { element { $0.append(json) } }
  mutating func literal(_ json: [UInt8]) { element { $0.bytes += json } }

  mutating func string(_ text: String) { string(text.utf8) }

  mutating func string(_ text: some Collection<UInt8>) {
    element { writer in
      writer.bytes.append(UInt8(ascii: "\""))
      if text.withContiguousStorageIfAvailable({ writer.appendIfPlain($0) }) == true {
      } else if writer.keepsInvalid {
        for byte in text { writer.appendCharacter(byte) }
      } else {
        for byte in String(decoding: text, as: UTF8.self).utf8 { writer.appendCharacter(byte) }
      }
      writer.bytes.append(UInt8(ascii: "\""))
    }
  }

  /// A range as [start, end].
  mutating func range(_ range: TextRange) {
    array {
      $0.integer(range.start)
      $0.integer(range.end)
    }
  }

  /// Members for a part of a text: the part itself, and where it is.
  mutating func place(
    _ bytes: TextRange, _ codePoints: TextRange, _ utf16: TextRange, in text: UnsafeBufferPointer<UInt8>
  ) {
    key("text")
    string(text[bytes.start..<bytes.end])
    for (name, part) in [("bytes", bytes), ("code_points", codePoints), ("utf16", utf16)] {
      key(name)
      range(part)
    }
  }

  /// Ends a line and hands it over.
  mutating func takeLine() -> [UInt8] {
    append("\n")
    return take()
  }

  /// Hands over what was written, and starts afresh.
  mutating func take() -> [UInt8] {
    needsComma = false
    defer { bytes.removeAll(keepingCapacity: true) }
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
    if needsComma { append(",") }
    body(&self)
    needsComma = true
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// ASCII without anything to escape, which most strings are, at once; does nothing for others.
  private mutating func appendIfPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    for byte in text {
      guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        return false
      }
    }
    bytes.append(contentsOf: text)
    return true
  }

  private mutating func appendDigits(_ value: Int) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
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
    default: bytes.append(byte)
    }
  }
}
