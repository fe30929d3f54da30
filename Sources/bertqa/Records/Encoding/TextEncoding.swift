/// A character encoding that the C library's iconv supports.
struct TextEncoding: Equatable {
  /// The name as iconv spells it.
  let name: String
  /// The size of the smallest code unit in bytes.
  let unitSize: Int
  /// True if the text begins with a byte order mark.
  var hasMark = false

  /// Returns nil if iconv does not know the name.
  init?(_ name: String) {
    // Rejects suffixes such as "//TRANSLIT" and the empty name, which means the locale's encoding.
    guard !name.isEmpty, !name.contains("/"), CharacterConverter(from: name, to: "UTF-8") != nil,
      let one = Self.encoded("a", in: name), let two = Self.encoded("aa", in: name)
    else { return nil }
    self.name = name
    // The first character may come with a byte order mark or an escape sequence, so the difference of the two
    // counts.
    unitSize = max(1, two.count - one.count)
  }

  /// The encoding that pages and mail call `label`, as browsers read it (WHATWG, Encoding): programs write a larger
  /// encoding under the name of a smaller one.
  init?(label: String) {
    let larger: [String: String] = [
      "gb2312": "GB18030", "gbk": "GB18030", "xgbk": "GB18030", "big5": "BIG5-HKSCS", "shiftjis": "CP932",
      "sjis": "CP932", "xsjis": "CP932", "eucjp": "EUC-JP-MS", "xeucjp": "EUC-JP-MS", "euckr": "CP949",
      "ksc56011987": "CP949", "iso88599": "WINDOWS-1254", "iso885911": "CP874", "tis620": "CP874",
    ]
    let plain = label.lowercased().filter { $0 != "-" && $0 != "_" }
    self.init(larger[plain] ?? label)
  }

  static let help = "NAME is one that 'iconv -l' lists, such as ISO-8859-1, WINDOWS-1252 or UTF-16LE."

  /// Returns the encoding that --encoding names; nil without the option.
  static func given(_ arguments: ParsedArguments) throws(ToolError) -> TextEncoding? {
    guard let given = arguments.last(.encoding) else { return nil }
    let name = given.string
    // Python spells these names differently: latin-1, euc_jp, utf-16-le.
    let plain = String(name.filter { $0 != "-" && $0 != "_" })
    for spelling in [name, String(name.map { $0 == "_" ? "-" : $0 }), plain] {
      if let encoding = TextEncoding(spelling) { return encoding }
    }
    throw given.wrong("a name that 'iconv -l' lists, such as ISO-8859-1, WINDOWS-1252 or UTF-16")
  }

  var isUTF8: Bool { plainName == "UTF8" }
  /// True for an encoding whose bytes are ASCII's, and whose escape sequences say what they mean.
  var isISO2022: Bool { plainName.hasPrefix("ISO2022") }

  /// Returns this encoding with a definite byte order. If the name leaves it open, the byte order mark
  /// decides; without a mark the order is little-endian.
  func resolved(by beginning: UnsafeBufferPointer<UInt8>) -> TextEncoding {
    var encoding = self
    if Self.openNames.contains(plainName) {
      let mark: [UInt8] = unitSize == 2 ? [0xFE, 0xFF] : [0, 0, 0xFE, 0xFF]
      encoding = TextEncoding("\(name)\(beginning.starts(with: mark) ? "BE" : "LE")") ?? self
    }
    encoding.hasMark = encoding.mark.map { beginning.starts(with: $0) } ?? false
    return encoding
  }

  /// Encodes `text`; nil if the encoding lacks one of its characters.
  func encoded(_ text: String) -> [UInt8]? { Self.encoded(text, in: name) }

  /// The byte order mark; nil if the encoding has none.
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

  /// Returns the text in UTF-8 without a byte order mark, and true if all of it was valid. U+FFFD replaces
  /// invalid bytes.
  func decoded(_ bytes: UnsafeBufferPointer<UInt8>) -> (text: [UInt8], isValid: Bool) {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    let isValid = decode(bytes) { text += $0 }
    return (text, isValid)
  }

  /// Calls `add` with one part of the text after the other, as `decoded` returns it. Returns true if all of it was
  /// valid.
  func decode<Failure>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ add: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    let encoding = resolved(by: bytes)
    guard let converter = CharacterConverter(from: encoding.name, to: "UTF-8") else {
      try add(bytes)
      return false
    }
    // There, ASCII's bytes are invalid only in pairs.
    let isISO2022 = isISO2022
    var isValid = true
    var output: [UInt8] = []
    var text = bytes.dropFirst(encoding.hasMark ? encoding.mark?.count ?? 0 : 0)
    while !text.isEmpty {
      let part = UnsafeBufferPointer(rebasing: text.prefix(Self.partSize))
      let taken = converter.convert(part, to: &output) { rest, output in
        isValid = false
        output += "\u{FFFD}".utf8
        return encoding.unitSize
          * (isISO2022 && rest.first.map { (0x21...0x7E).contains($0) } == true ? 2 : 1)
      }
      text = text.dropFirst(taken)
      // The rest of the last part is an incomplete character.
      if taken == 0 { break }
      try output.withElements(add)
      output.removeAll(keepingCapacity: true)
    }
    converter.finish(&output)
    if !text.isEmpty { output += "\u{FFFD}".utf8 }
    try output.withElements(add)
    return isValid && text.isEmpty
  }

  /// The bytes that are decoded at once: more than any character has.
  private static let partSize = 1 << 20

  private var plainName: String { String(name.uppercased().filter { $0 != "-" && $0 != "_" }) }

  /// Encoding names that leave the byte order open.
  private static let openNames: Set<String> = ["UTF16", "UTF32"]
}

/// Represents an invalid byte while a text is processed as UTF-8: a lone low surrogate, U+DC00 plus the byte.
/// Valid UTF-8 cannot contain it, so the byte can be restored.
enum EscapedByte {
  static func append(_ bytes: some Sequence<UInt8>, to output: inout [UInt8]) {
    for byte in bytes { output += [0xED, 0xB0 | byte >> 6, 0x80 | byte & 0x3F] }
  }

  /// Returns the byte whose escape the text begins with.
  static func first(of text: some Collection<UInt8>) -> UInt8? {
    var iterator = text.makeIterator()
    guard iterator.next() == 0xED, let high = iterator.next(), high & 0xFC == 0xB0, let low = iterator.next(),
      low & 0xC0 == 0x80
    else { return nil }
    return high << 6 | low & 0x3F
  }
}

extension TextEncoding? {
  /// What is wrong with bytes that are not valid in the encoding; nil: in UTF-8, which nobody named.
  var flaw: String {
    map { "not valid \($0.name)" } ?? "not valid UTF-8: --encoding NAME reads another encoding"
  }
}
