/// A reader of JSON (RFC 8259) over bytes, strict: UTF-8 only, no comments, no trailing commas, no
/// NaN. Time linear in the text; memory bounded by `Limits`.
package struct JSONParser {
  package struct Limits {
    /// Nesting of arrays and objects; also bounds the stack.
    package var depth: Int
    /// Values of any kind: at most 40 bytes of memory each, besides the text of strings.
    package var values: Int
    /// Bytes of text.
    package var bytes: Int

    package init(depth: Int = 64, values: Int = 4_000_000, bytes: Int = 100_000_000) {
      self.depth = depth
      self.values = values
      self.bytes = bytes
    }
  }

  let bytes: UnsafeBufferPointer<UInt8>
  private let file: String
  private let limits: Limits
  var position = 0
  private var valueCount = 0

  private init(_ bytes: UnsafeBufferPointer<UInt8>, file: String, limits: Limits) {
    self.bytes = bytes
    self.file = file
    self.limits = limits
  }

  /// The value that `bytes` spell; `file` is named in errors.
  package static func parse(
    _ bytes: UnsafeBufferPointer<UInt8>, file: String, limits: Limits = Limits()
  ) throws(BertQAError) -> JSON {
    var parser = JSONParser(bytes, file: file, limits: limits)
    guard bytes.count <= limits.bytes else {
      throw BertQAError(
        .tooLarge, "\(file): \(bytes.count) bytes of JSON, expected at most \(limits.bytes)")
    }
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.error("expected the end of the text") }
    return value
  }

  static func parse(_ file: ModelFile, limits: Limits = Limits()) throws(BertQAError) -> JSON {
    try file.withBytes { bytes throws(BertQAError) in
      try parse(bytes, file: file.path, limits: limits)
    }
  }

  func error(_ what: String, at offset: Int? = nil) -> BertQAError {
    BertQAError(.invalidModel, "\(file): not valid JSON at byte \(offset ?? position): \(what)")
  }

  /// The byte at the position, or 0, which no JSON token starts with, at the end.
  var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
      default: return
      }
    }
  }

  /// Skips space, then takes `byte` if it comes next.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    position &+= 1
    return true
  }

  private mutating func value(depth: Int) throws(BertQAError) -> JSON {
    valueCount &+= 1
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
