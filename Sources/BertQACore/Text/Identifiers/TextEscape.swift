/// A character that is written with several: an escape of a URL (`%40`), of HTML (`&#64;`, `&nbsp;`) or of JSON (`\u0040`,
/// `\n`), or a word in brackets that keeps collectors of addresses away (`(at)`, `[dot]`).
struct TextEscape {
  let range: Range<Int>
  let scalar: UInt32

  /// nil if none begins at a place, or with the space before it.
  /// - Parameter last: the end of what came before.
  init?(in text: TextBytes, at start: Int, behind last: Int) {
    switch text[start] {
    case UInt8(ascii: "%"):
      guard let number = Self.digits(text, from: start + 1, radix: 16, most: 2), number.end == start + 3,
        number.value < 0x7F,
        [UInt32(UInt8(ascii: "@")), UInt32(UInt8(ascii: "+"))].contains(number.value)
          || !Self.isInURL(text, start)
      else { return nil }
      scalar = number.value
      range = start..<start + 3
    case UInt8(ascii: "&"):
      if let (name, scalar) = Self.names.first(where: { text.has($0.0, at: start) }) {
        self.scalar = scalar
        range = start..<start + name.utf8CodeUnitCount
      } else if text.has("&#", at: start),
        let number = Self.number(text, from: start + 2), text[number.end] == UInt8(ascii: ";")
      {
        scalar = number.value
        range = start..<number.end + 1
      } else {
        return nil
      }
    case UInt8(ascii: "\\"):
      if text[start + 1] == UInt8(ascii: "u") {
        guard let number = Self.digits(text, from: start + 2, radix: 16, most: 4), number.end == start + 6
        else {
          return nil
        }
        scalar = number.value
        range = start..<start + 6
      } else if let (_, scalar) = Self.controls.first(where: { $0.0 == text[start + 1] }) {
        self.scalar = scalar
        range = start..<start + 2
      } else {
        return nil
      }
    default:
      guard let (end, scalar) = Self.wordInBrackets(text, at: start) else { return nil }
      // "ann (at) example (dot) org"
      let hasSpace = text[start - 1] == UInt8(ascii: " ") && start - 1 >= last
      let first = hasSpace ? start - 1 : start
      let stop = text[end] == UInt8(ascii: " ") ? end + 1 : end
      guard text.isWordByte(first - 1) || text[first - 1] >= 0x80, text.isWordByte(stop) || text[stop] >= 0x80
      else { return nil }
      self.scalar = scalar
      range = first..<stop
    }
  }

  private static let names: [(StaticString, UInt32)] = [
    ("&lt;", 0x3C), ("&gt;", 0x3E), ("&quot;", 0x22), ("&apos;", 0x27),
    ("&commat;", 0x40), ("&plus;", 0x2B), ("&period;", 0x2E), ("&nbsp;", 0xA0), ("&thinsp;", 0x2009),
    ("&ndash;", 0x2013), ("&shy;", 0xAD),
  ]

  private static let controls: [(UInt8, UInt32)] = [
    (UInt8(ascii: "n"), 0x0A), (UInt8(ascii: "r"), 0x0D), (UInt8(ascii: "t"), 0x09),
    (UInt8(ascii: "/"), 0x2F),
  ]

  private static let words: [(StaticString, UInt32)] = [
    ("at", 0x40), ("\u{E4}t", 0x40), ("arroba", 0x40), ("dot", 0x2E), ("punkt", 0x2E), ("punto", 0x2E),
    ("ponto", 0x2E), ("point", 0x2E), (".", 0x2E), ("@", 0x40),
  ]

  private static let longestURL = 256

  /// True if `://` or `www.` stands before a place, without white space and quotation marks between. An escaped space
  /// there belongs to the address.
  private static func isInURL(_ text: TextBytes, _ start: Int) -> Bool {
    var position = start
    while position > 0, position > start - longestURL {
      position -= 1
      switch text[position] {
      case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"): return false
      case UInt8(ascii: ":"): if text.has("://", at: position) { return true }
      case UInt8(ascii: "w"), UInt8(ascii: "W"): if text.has("www.", at: position) { return true }
      default: break
      }
    }
    return position > 0
  }

  /// The first bytes of `words` with the bit of lower-case letters: most brackets have something else.
  private static let initials = Set(words.map { $0.0.utf8Start.pointee | 0x20 })

  /// Returns the end of a word in brackets and what it stands for.
  private static func wordInBrackets(_ text: TextBytes, at start: Int) -> (end: Int, scalar: UInt32)? {
    let closing: UInt8 =
      text[start] == UInt8(ascii: "(") ? 0x29 : text[start] == UInt8(ascii: "[") ? 0x5D : 0x7D
    let first = text[start + 1] == UInt8(ascii: " ") ? start + 2 : start + 1
    guard initials.contains(text[first] | 0x20),
      let (word, scalar) = words.first(where: { text.has($0.0, at: first) })
    else { return nil }
    let end = first + word.utf8CodeUnitCount
    let stop = text[end] == UInt8(ascii: " ") ? end + 1 : end
    return text[stop] == closing ? (stop + 1, scalar) : nil
  }

  /// Reads the number of a character reference: `64` or `x40`.
  private static func number(_ text: TextBytes, from start: Int) -> (value: UInt32, end: Int)? {
    text.has("x", at: start)
      ? digits(text, from: start + 1, radix: 16, most: 6) : digits(text, from: start, radix: 10, most: 7)
  }

  /// - Parameter most: so many digits do not overflow.
  private static func digits(
    _ text: TextBytes, from start: Int, radix: UInt32, most: Int
  ) -> (value: UInt32, end: Int)? {
    var (value, end): (UInt32, Int) = (0, start)
    while end - start < most, let digit = Character(Unicode.Scalar(text[end])).hexDigitValue, digit < radix {
      value = radix * value + UInt32(digit)
      end += 1
    }
    return end > start ? (value, end) : nil
  }
}
