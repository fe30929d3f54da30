/// Data that programs of mail write as lines of text: uuencoded files, and signatures and keys in ASCII armour.
enum EncodedData {
  private typealias Line = ArraySlice<UInt8>

  /// Returns a text without its encoded data.
  static func removed(from text: [UInt8]) -> [UInt8] {
    let newline = UInt8(ascii: "\n")
    let lines = text.split(separator: newline, omittingEmptySubsequences: false)
    var kept: [Line] = []
    var index = 0
    while index < lines.count {
      // Either ends where the next one begins, so all are read once.
      if let end = uuencodedEnd(lines, from: index) ?? armourEnd(lines, from: index) {
        index = end + 1
      } else {
        kept.append(lines[index])
        index += 1
      }
    }
    return Array(kept.joined(separator: [newline]))
  }

  /// Returns the line "end" of what begins with a line such as `begin 644 photo.jpg`; nil if it is something else.
  private static func uuencodedEnd(_ lines: [Line], from start: Int) -> Int? {
    let words = lines[start].split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard words.count == 3, words[0].elementsEqual("begin".utf8), 3...4 ~= words[1].count,
      words[1].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
    else { return nil }
    for index in lines.indices.dropFirst(start + 1) {
      let line = trimmed(lines[index])
      if line.elementsEqual("end".utf8) { return index }
      guard isUuencoded(line) else { return nil }
    }
    return nil
  }

  /// True for a line that begins with the number of its bytes; spaces at its end may be lost.
  private static func isUuencoded(_ line: Line) -> Bool {
    guard let first = line.first else { return true }
    guard line.allSatisfy({ (0x20...0x60).contains($0) }) else { return false }
    // Some programs add a checksum.
    return line.count <= 2 + (Int(first - 0x20) & 63 + 2) / 3 * 4
  }

  /// Returns the last line of what begins with a line such as `-----BEGIN PGP SIGNATURE-----`; nil if it is something
  /// else.
  private static func armourEnd(_ lines: [Line], from start: Int) -> Int? {
    guard let label = label(lines[start], "-----BEGIN ") else { return nil }
    for index in lines.indices.dropFirst(start + 1) {
      if let end = self.label(lines[index], "-----END ") { return end == label ? index : nil }
      guard isArmour(trimmed(lines[index])) else { return nil }
    }
    return nil
  }

  private static func label(_ line: Line, _ beginning: String) -> Line? {
    let line = trimmed(line)
    guard line.starts(with: beginning.utf8), line.suffix(5).elementsEqual("-----".utf8) else { return nil }
    return line.dropFirst(beginning.utf8.count).dropLast(5)
  }

  /// True for Base64, a header such as `Version: GnuPG v1`, and an empty line.
  private static func isArmour(_ line: Line) -> Bool {
    let name = line.prefix(while: isLetter)
    if !name.isEmpty, line.dropFirst(name.count).starts(with: ": ".utf8) { return true }
    return line.allSatisfy {
      isLetter($0) || (UInt8(ascii: "/")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "+")
        || $0 == UInt8(ascii: "=")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

  private static func trimmed(_ line: Line) -> Line {
    var line = line
    while let last = line.last, last <= UInt8(ascii: " ") { line.removeLast() }
    return line
  }
}
