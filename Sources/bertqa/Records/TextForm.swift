import BertQACore

/// The kind of a file by its first bytes: text, UTF-16, or data without readable text.
enum TextForm {
  case text
  /// UTF-16 with a byte order mark.
  case utf16
  /// The kind of data, and the remedy.
  case noText(String)

  /// The number of bytes examined.
  static let sampleSize = 1 << 16

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    let sample = UnsafeBufferPointer(rebasing: bytes.prefix(Self.sampleSize))
    if let kind = Self.known(sample, hasEncoding: false) {
      self = .noText(kind)
    } else if Self.isUTF16(sample, isEven: bytes.count % 2 == 0) {
      self = .utf16
    } else if let order = Self.unmarkedByteOrder(sample) {
      self = .noText(Self.unmarked(order))
    } else if Self.isBinary(sample) {
      self = .noText("a binary file, not text")
    } else {
      self = .text
    }
  }

  /// Classifies the first bytes of a file that is read piece by piece. Unrecognised bytes count as text.
  /// - Parameter encoding: the encoding that the user names; nil for none.
  init(beginningWith bytes: UnsafeBufferPointer<UInt8>, as encoding: TextEncoding?) {
    let sample = UnsafeBufferPointer(rebasing: bytes.prefix(Self.sampleSize))
    self = .text
    if let kind = Self.known(sample, hasEncoding: encoding != nil) {
      self = .noText(kind)
    } else if let encoding {
      // Text with a code unit of one byte has no zero bytes.
      guard encoding.unitSize == 1, sample.contains(0) else { return }
      if Self.isUTF16(sample, isEven: true) {
        self = .noText("UTF-16: read it without --encoding")
      } else if let order = Self.unmarkedByteOrder(sample) {
        self = .noText(Self.unmarked(order))
      }
    } else if Self.isUTF16(sample, isEven: true) {
      self = .utf16
    } else if let order = Self.unmarkedByteOrder(sample) {
      self = .noText(Self.unmarked(order))
    }
  }

  /// True if these bytes are a proper prefix of something that the initialiser recognises.
  static func mayBegin(with bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let starts = signatures.map(\.start) + [[0xFE, 0xFF], [0xFF, 0xFE]]
    return starts.contains { bytes.count < $0.count && $0.starts(with: bytes) }
  }

  private static func unmarked(_ order: String) -> String {
    "UTF-16 without a byte order mark: read it with --encoding UTF-16\(order)"
  }

  // MARK: - Known kinds

  private static let documents = "save its table as CSV, or extract its text first"
  private static let pandoc = "\(documents), for instance with 'pandoc -t plain FILE'"

  private static let columns =
    "write its columns as JSON lines or CSV first, for instance with DuckDB or pandas"

  /// The signatures, each with the kind of data and the remedy.
  private static let signatures: [(start: [UInt8], kind: String)] =
    textSignatures.map { (start: Array($0.start.utf8), kind: $0.kind) } + byteSignatures
    + utf32Marks.map { (start: $0, kind: "UTF-32: read it with --encoding UTF-32") }

  private static let textSignatures: [(start: String, kind: String)] = [
    (
      "version https://git-lfs.github.com/spec/",
      "a Git LFS pointer to a file that was not fetched: run 'git lfs pull'"
    ),
    ("SQLite format 3\0", "an SQLite database: 'bertqa ask' reads one with a full-text index"),
    ("PK\u{3}\u{4}", "a ZIP archive, as documents of office programs are: \(pandoc)"),
    ("{\\rtf", "an RTF document: \(pandoc)"),
    ("%!PS-", "a PostScript document: extract its text first, for instance with 'ps2ascii'"),
    ("PAR1\u{15}", "a Parquet file: \(columns)"),
    ("ARROW1\0", "an Arrow file: \(columns)"),
    ("Obj\u{1}", "an Avro file: write its rows as JSON lines or CSV first"),
    ("\u{1}\u{1}\u{1}\u{1}\n", "mail in MMDF format: make an mbox file of it, with \"sed '/\\x01/d'\""),
    ("\u{7F}ELF", "a program or library"),
  ]

  private static let byteSignatures: [(start: [UInt8], kind: String)] = [
    ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "a document of an office program: \(documents)"),
    // FD "7zXZ" 00
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed with xz: read it with 'xz -dc'"),
    // 89 "PNG" CR LF
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "a picture"),
    ([0xFF, 0xD8, 0xFF], "a picture"),
  ]

  private static let utf32Marks: [[UInt8]] = [[0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0]]

  private static func known(_ sample: UnsafeBufferPointer<UInt8>, hasEncoding: Bool) -> String? {
    if let signature = signatures.first(where: { sample.starts(with: $0.start) }) {
      return hasEncoding && utf32Marks.contains(signature.start) ? nil : signature.kind
    }
    if isBZip2(sample) { return "compressed with bzip2: read it with 'bzip2 -dc'" }
    if sample.dropFirst(257).starts(with: "ustar".utf8) { return "a tar archive: unpack it first" }
    // The standard allows it anywhere in the first 1024 bytes; in practice it follows a byte order mark.
    if sample.dropFirst(sample.byteOrderMarkSize).starts(with: Array("%PDF-".utf8)) {
      return "a PDF document: extract its text first, for instance with 'pdftotext FILE -'"
    }
    return nil
  }

  /// Recognises "BZh", a digit and the digits of pi.
  private static func isBZip2(_ sample: UnsafeBufferPointer<UInt8>) -> Bool {
    sample.starts(with: Array("BZh".utf8))
      && sample.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
  }

  // MARK: - UTF-16

  /// True for text with a byte order mark. Data in which lower-case ASCII letters and spaces prevail is not UTF-16,
  /// even if it begins with the same bytes.
  private static func isUTF16(_ sample: UnsafeBufferPointer<UInt8>, isEven: Bool) -> Bool {
    guard isEven, sample.starts(with: [0xFE, 0xFF]) || sample.starts(with: [0xFF, 0xFE]) else { return false }
    let rest = sample.dropFirst(2)
    let words = rest.count { (0x61...0x7A).contains($0) || $0 == 0x20 }
    return rest.contains(0) || words * 5 <= rest.count * 3
  }

  /// Returns "LE" or "BE" for text without a mark in which every second byte is 0, as in UTF-16 of European
  /// languages.
  private static func unmarkedByteOrder(_ sample: UnsafeBufferPointer<UInt8>) -> String? {
    guard sample.count >= 8 else { return nil }
    var zeros = [0, 0]
    // In place of the letters beside the zeros; small numbers have many.
    var controls = 0
    for (index, byte) in sample.enumerated() where byte == 0 {
      zeros[index % 2] += 1
      let other = index ^ 1
      if other < sample.count, sample[other] < 0x20, !isUsual(sample[other]) { controls += 1 }
    }
    let half = sample.count / 2
    guard controls * 10 <= zeros[0] + zeros[1] else { return nil }
    if zeros[1] * 5 >= half * 2, zeros[0] * 50 <= half { return "LE" }
    if zeros[0] * 5 >= half * 2, zeros[1] * 50 <= half { return "BE" }
    return nil
  }

  // MARK: - Anything else

  /// The minimum number of bytes for a decision.
  private static let leastBinary = 32

  /// True if control characters are more frequent than in any text, or occur together with invalid UTF-8.
  private static func isBinary(_ sample: UnsafeBufferPointer<UInt8>) -> Bool {
    guard sample.count >= leastBinary else { return false }
    let controls = sample.count { $0 < 0x20 && !isUsual($0) || $0 == 0x7F }
    if controls * 20 > sample.count { return true }
    guard controls * 100 > sample.count || sample.contains(0) else { return false }
    // The sample may end inside a character.
    let isCut = sample.count == sampleSize
    let end = isCut ? sample.lastIndex { $0 & 0xC0 != 0x80 } ?? 0 : sample.count
    return String(validating: sample[..<end], as: UTF8.self) == nil
  }

  /// Recognises backspace, tab, line and page ends, and escape.
  private static func isUsual(_ control: UInt8) -> Bool {
    (8...13).contains(control) || control == 0x1B
  }
}
