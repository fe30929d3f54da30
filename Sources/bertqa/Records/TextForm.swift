/// What the bytes of a file are, by how they begin: text, UTF-16, or something that has no text to read.
enum TextForm {
  case text
  /// With a byte order mark.
  case utf16(isBigEndian: Bool)
  /// What it is, and what to do about it.
  case noText(String)

  /// Bytes that are looked at.
  private static let sampleSize = 1 << 16

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    let sample = UnsafeBufferPointer(rebasing: bytes.prefix(Self.sampleSize))
    if let kind = Self.known(sample) {
      self = .noText(kind)
    } else if let isBigEndian = Self.byteOrder(sample, isEven: bytes.count % 2 == 0) {
      self = .utf16(isBigEndian: isBigEndian)
    } else if let order = Self.unmarkedByteOrder(sample) {
      self = .noText("UTF-16 without a byte order mark: convert it with 'iconv -f UTF-16\(order) -t UTF-8'")
    } else if Self.isBinary(sample) {
      self = .noText("a binary file, not text")
    } else {
      self = .text
    }
  }

  // MARK: - Known kinds

  private static let documents = "extract its text first"

  /// What begins so, and what to do about it.
  private static let signatures: [(start: [UInt8], kind: String)] = [
    (
      Array("version https://git-lfs.github.com/spec/".utf8),
      "a Git LFS pointer, which stands for a file that was not fetched: run 'git lfs pull'"
    ),
    (Array("SQLite format 3\0".utf8), "an SQLite database: 'bertqa ask' reads one with a full-text index"),
    (Array("PK\u{3}\u{4}".utf8), "a ZIP archive, as documents of office programs are: \(documents)"),
    ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "a document of an office program: \(documents)"),
    (Array("{\\rtf".utf8), "an RTF document: \(documents)"),
    (Array("%!PS-".utf8), "a PostScript document: \(documents), for instance with 'ps2ascii'"),
    ([0x1F, 0x8B], "compressed with gzip: read it with 'gzip -dc'"),
    ([0x28, 0xB5, 0x2F, 0xFD], "compressed with Zstandard: read it with 'zstd -dc'"),
    ([0xFD] + Array("7zXZ\0".utf8), "compressed with xz: read it with 'xz -dc'"),
    ([0x89] + Array("PNG\r\n".utf8), "a picture"), ([0xFF, 0xD8, 0xFF], "a picture"),
    ([0x7F] + Array("ELF".utf8), "a program or library"),
    ([0, 0, 0xFE, 0xFF], "UTF-32: convert it with 'iconv -f UTF-32 -t UTF-8'"),
    ([0xFF, 0xFE, 0, 0], "UTF-32: convert it with 'iconv -f UTF-32 -t UTF-8'"),
  ]

  private static func known(_ sample: UnsafeBufferPointer<UInt8>) -> String? {
    if let signature = signatures.first(where: { sample.starts(with: $0.start) }) { return signature.kind }
    if isBZip2(sample) { return "compressed with bzip2: read it with 'bzip2 -dc'" }
    // The standard lets it begin somewhere in the first 1024 bytes; in practice behind a byte order mark.
    let mark = sample.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    if sample.dropFirst(mark).starts(with: Array("%PDF-".utf8)) {
      return "a PDF document: extract its text first, for instance with 'pdftotext FILE -'"
    }
    return nil
  }

  /// "BZh", a digit, and the number pi.
  private static func isBZip2(_ sample: UnsafeBufferPointer<UInt8>) -> Bool {
    sample.starts(with: Array("BZh".utf8))
      && sample.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
  }

  // MARK: - UTF-16

  /// Of text with a byte order mark: whether the high byte is first. Other bytes may begin like that, too: those
  /// that are mostly lower-case letters and spaces of ASCII are not taken for it.
  private static func byteOrder(_ sample: UnsafeBufferPointer<UInt8>, isEven: Bool) -> Bool? {
    guard isEven, sample.count >= 2 else { return nil }
    let isBigEndian: Bool
    switch (sample[0], sample[1]) {
    case (0xFE, 0xFF): isBigEndian = true
    case (0xFF, 0xFE): isBigEndian = false
    default: return nil
    }
    let rest = sample.dropFirst(2)
    let words = rest.count { (0x61...0x7A).contains($0) || $0 == 0x20 }
    return rest.contains(0) || words * 5 <= rest.count * 3 ? isBigEndian : nil
  }

  /// The order of text in which every second byte is 0, as in UTF-16 of European languages; "LE" or "BE".
  private static func unmarkedByteOrder(_ sample: UnsafeBufferPointer<UInt8>) -> String? {
    guard sample.count >= 8 else { return nil }
    var zeros = [0, 0]
    for (index, byte) in sample.enumerated() where byte == 0 { zeros[index % 2] += 1 }
    let half = sample.count / 2
    if zeros[1] * 5 >= half * 2, zeros[0] * 50 <= half { return "LE" }
    if zeros[0] * 5 >= half * 2, zeros[1] * 50 <= half { return "BE" }
    return nil
  }

  /// The text in UTF-8, without the mark; halves of pairs become U+FFFD.
  static func utf8(fromUTF16 bytes: UnsafeBufferPointer<UInt8>, isBigEndian: Bool) -> [UInt8] {
    let (high, low) = isBigEndian ? (0, 1) : (1, 0)
    let units = stride(from: 2, to: bytes.count - 1, by: 2).lazy.map {
      UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + low])
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 2)
    var decoder = UTF16()
    var iterator = units.makeIterator()
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar):
        text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      case .error: text.append(contentsOf: UTF8.encodedReplacementCharacter)
      case .emptyInput: return text
      }
    }
  }

  // MARK: - Anything else

  /// The fewest bytes by which to tell.
  private static let leastBinary = 32

  /// Whether control characters are among the bytes that no text has in such numbers, or with invalid UTF-8.
  private static func isBinary(_ sample: UnsafeBufferPointer<UInt8>) -> Bool {
    guard sample.count >= leastBinary else { return false }
    let controls = sample.count { $0 < 0x20 && !isUsual($0) || $0 == 0x7F }
    if controls * 20 > sample.count { return true }
    guard controls * 100 > sample.count || sample.contains(0) else { return false }
    // The sample may end within a character.
    let isCut = sample.count == sampleSize
    let end = isCut ? sample.lastIndex { $0 & 0xC0 != 0x80 } ?? 0 : sample.count
    return String(validating: sample[..<end], as: UTF8.self) == nil
  }

  /// Back space, tab, line and page ends, escape.
  private static func isUsual(_ control: UInt8) -> Bool {
    (8...13).contains(control) || control == 0x1B
  }
}
