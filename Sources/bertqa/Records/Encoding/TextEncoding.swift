/// An encoding of characters that the C library's iconv knows.
struct TextEncoding: Equatable {
  /// As iconv spells it.
  let name: String
  /// Bytes of its smallest unit.
  let unitSize: Int
  /// Whether the text begins with a byte order mark.
  var hasMark = false

  /// nil if iconv does not know the name.
  init?(_ name: String) {
    // Without "//TRANSLIT" and its like. The empty name is that of the locale.
    guard !name.isEmpty, !name.contains("/"), CharacterConverter(from: name, to: "UTF-8") != nil,
      let one = Self.encoded("a", in: name), let two = Self.encoded("aa", in: name)
    else { return nil }
    self.name = name
    // The first character may come with a mark, or with what begins a state.
    unitSize = max(1, two.count - one.count)
  }

  static let help = "NAME is one that 'iconv -l' lists, such as ISO-8859-1, WINDOWS-1252 or UTF-16LE."

  /// What --encoding names; nil without.
  static func given(_ arguments: ParsedArguments) throws(ToolError) -> TextEncoding? {
    guard let given = arguments.last(.encoding) else { return nil }
    let name = given.string
    // Python's names differ in these, such as latin-1, euc_jp and utf-16-le.
    let plain = String(name.filter { $0 != "-" && $0 != "_" })
    for spelling in [name, String(name.map { $0 == "_" ? "-" : $0 }), plain] {
      if let encoding = TextEncoding(spelling) { return encoding }
    }
    throw given.wrong("a name that 'iconv -l' lists, such as ISO-8859-1, WINDOWS-1252 or UTF-16")
  }

  var isUTF8: Bool { plainName == "UTF8" }

  /// The same with the order of bytes that the beginning of a text tells, where the name leaves it open; without a
  /// byte order mark the lowest is first.
  func resolved(by beginning: UnsafeBufferPointer<UInt8>) -> TextEncoding {
    var encoding = self
    if Self.openNames.contains(plainName) {
      let mark: [UInt8] = unitSize == 2 ? [0xFE, 0xFF] : [0, 0, 0xFE, 0xFF]
      encoding = TextEncoding("\(name)\(beginning.starts(with: mark) ? "BE" : "LE")") ?? self
    }
    encoding.hasMark = encoding.mark.map { beginning.starts(with: $0) } ?? false
    return encoding
  }

  /// nil if it does not have these characters.
  func encoded(_ text: String) -> [UInt8]? { Self.encoded(text, in: name) }

  /// A byte order mark; nil if it has none.
  private var mark: [UInt8]? { encoded("\u{FEFF}") }

  private static func encoded(_ text: String, in name: String) -> [UInt8]? {
    guard let converter = CharacterConverter(from: "UTF-8", to: name) else { return nil }
    var output: [UInt8] = []
    var isWhole = true
    var text = text
    text.withUTF8 { bytes in
      _ = converter.convert(bytes, to: &output) { rest, _ in
        isWhole = false
        return rest.count
      }
    }
    return isWhole ? output : nil
  }

  /// The text in UTF-8, without a byte order mark, and whether all of it was valid; what is not becomes U+FFFD.
  func decoded(_ bytes: UnsafeBufferPointer<UInt8>) -> (text: [UInt8], isValid: Bool) {
    let encoding = resolved(by: bytes)
    guard let converter = CharacterConverter(from: encoding.name, to: "UTF-8") else {
      return (Array(bytes), false)
    }
    var isValid = true
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    let mark = encoding.hasMark ? encoding.mark?.count ?? 0 : 0
    let text = UnsafeBufferPointer(rebasing: bytes.dropFirst(mark))
    let taken = converter.convert(text, to: &output) { _, output in
      isValid = false
      output += "\u{FFFD}".utf8
      return encoding.unitSize
    }
    if taken < text.count { output += "\u{FFFD}".utf8 }
    return (output, isValid && taken == text.count)
  }

  private var plainName: String { String(name.uppercased().filter { $0 != "-" && $0 != "_" }) }

  /// Names that leave the order of bytes open.
  private static let openNames: Set<String> = ["UTF16", "UTF32"]
}

/// What comes of bytes that are not valid in a text's encoding while it is UTF-8: lone low surrogates, U+DC00 and
/// the byte, which UTF-8 cannot have, so that the bytes can be had again.
enum EscapedByte {
  static func append(_ bytes: some Sequence<UInt8>, to output: inout [UInt8]) {
    for byte in bytes { output += [0xED, 0xB0 | byte >> 6, 0x80 | byte & 0x3F] }
  }

  /// The byte whose escape the text begins with.
  static func first(of text: some Collection<UInt8>) -> UInt8? {
    var iterator = text.makeIterator()
    guard iterator.next() == 0xED, let high = iterator.next(), high & 0xFC == 0xB0, let low = iterator.next(),
      low & 0xC0 == 0x80
    else { return nil }
    return high << 6 | low & 0x3F
  }
}
