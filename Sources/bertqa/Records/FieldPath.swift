/// The path of a field: a JSON Pointer (RFC 6901) such as "/a/b/0", or names and indices joined by dots. In
/// tables, the name of a column.
struct FieldPath {
  /// The path as the user wrote it.
  let name: String
  let segments: [[UInt8]]
  /// The segments as array indices; nil where a segment is not a number.
  let indices: [Int?]
  /// The end of messages that it is missing.
  let advice: String

  /// - Parameter isColumn: true if the argument is a column name, which may contain any characters.
  init(_ given: ParsedOption, isColumn: Bool) throws(ToolError) {
    if isColumn {
      self.init(member: given.text.map { Array($0.bytes) } ?? [])
      return
    }
    guard let path = FieldPath(given.string) else {
      throw given.wrong("a name, a path such as a.b.0 or a JSON Pointer such as /a/b/0")
    }
    self = path
  }

  /// The path that an option gives, or a top-level member of the record.
  init(_ given: ParsedOption?, otherwise member: String, isColumn: Bool) throws(ToolError) {
    if let given { try self.init(given, isColumn: isColumn) } else { self.init(member: Array(member.utf8)) }
  }

  /// Creates the path of a top-level member of the record.
  init(member: [UInt8], advice: String = "") {
    self.advice = advice
    name = String(decoding: member, as: UTF8.self)
    segments = [member]
    indices = [nil]
  }

  /// Returns nil if `name` is not a path.
  init?(_ name: String) {
    let bytes = Array(name.utf8)
    let isPointer = bytes.first == UInt8(ascii: "/")
    let separator = isPointer ? bytes[0] : UInt8(ascii: ".")
    var segments: [[UInt8]] = []
    for part in bytes.split(separator: separator, omittingEmptySubsequences: false) {
      guard let segment = isPointer ? Self.unescaped(part) : Array(part) else { return nil }
      // A JSON Pointer may name the key "".
      if segment.isEmpty && !isPointer { return nil }
      segments.append(segment)
    }
    if isPointer { segments.removeFirst() }
    guard !segments.isEmpty, segments.count <= 64 else { return nil }
    self.name = name
    self.segments = segments
    indices = segments.map(Self.index)
    advice = ""
  }

  /// Decodes "~1" to a slash and "~0" to a tilde.
  private static func unescaped(_ part: ArraySlice<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "~") else {
        result.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "0"): result.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): result.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return result
  }

  /// Parses decimal digits without leading zeros.
  private static func index(_ segment: [UInt8]) -> Int? {
    guard segment.count == 1 || segment.first != UInt8(ascii: "0"),
      segment.allSatisfy({ ("0"..."9").contains(Unicode.Scalar($0)) })
    else { return nil }
    return Int(String(decoding: segment, as: UTF8.self))
  }
}
