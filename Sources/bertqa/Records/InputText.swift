import BertQACore

/// A complete text in memory.
final class InputText {
  private let buffer: ByteBuffer
  /// The encoding of the file; nil for UTF-8.
  let encoding: TextEncoding?
  /// True if all bytes of the file were valid in its encoding.
  private(set) var isDecodable = true
  /// False for a text whose lines are not those of its file.
  private(set) var hasLines = true
  /// False if a part of the file could not be read, which was reported.
  private(set) var isComplete = true

  var bytes: UnsafeBufferPointer<UInt8> { buffer.bytes }

  /// The library's maximum size of a text in bytes: 2 GiB less one.
  static let limit = TextLimit.byteCount

  /// Options for reading texts.
  struct Reading {
    /// True reads files that do not look like text.
    var isForced = false
    /// nil detects the encoding from the first bytes.
    var encoding: TextEncoding?
    /// True reads text with more control characters than any text in UTF-8 has.
    var mayHaveControls = false
    /// What to do about a file that does not look like text.
    var advice = "--force reads it anyway"

    /// Takes the values of --force and --encoding.
    init(_ arguments: ParsedArguments) throws(ToolError) {
      self.init(isForced: arguments.has(.force), encoding: try TextEncoding.given(arguments))
    }

    init(isForced: Bool = false, encoding: TextEncoding? = nil) {
      self.isForced = isForced
      self.encoding = encoding
    }

    /// Returns the form of a text, of which the first bytes are enough. Throws if it is no text.
    func form(_ bytes: UnsafeBufferPointer<UInt8>, _ shown: String) throws(ToolError) -> TextForm {
      let form =
        encoding == nil && !mayHaveControls ? TextForm(bytes) : TextForm(beginningWith: bytes, as: encoding)
      if case .noText(let kind) = form, !isForced {
        throw ToolError(.input, "\(shown): looks like \(kind); \(advice)")
      }
      return form
    }
  }

  /// Reads the named file; "-" is standard input. Text in another encoding becomes UTF-8, and ranges then
  /// refer to the UTF-8 text.
  convenience init(_ name: ArgumentText, _ reading: Reading) throws(ToolError) {
    let input = try Input(name)
    try input.decompress(byContent: true)
    try self.init(input, reading)
  }

  init(_ input: Input, _ reading: Reading) throws(ToolError) {
    try Self.checkSize(input)
    let read = try Self.read(input)
    let form = try reading.form(read.bytes, input.shown)
    if let encoding = reading.encoding {
      self.encoding = encoding.isUTF8 ? nil : encoding.resolved(by: read.bytes)
    } else if case .utf16 = form {
      encoding = TextEncoding("UTF-16")?.resolved(by: read.bytes)
      report("note: \(input.shown) is UTF-16 and was converted: ranges count in UTF-8")
    } else {
      encoding = nil
    }
    guard let encoding else {
      buffer = read
      return
    }
    let text = ByteBuffer()
    isDecodable = try withExtendedLifetime(read) { () throws(ToolError) in
      try encoding.decode(read.bytes) { part throws(ToolError) in try text.append(part) }
    }
    buffer = text
  }

  static func checkSize(_ input: Input) throws(ToolError) {
    if let size = input.size, size > limit { throw tooLarge(input.shown) }
  }

  /// Reads all of the input.
  private static func read(_ input: Input) throws(ToolError) -> ByteBuffer {
    let buffer = ByteBuffer()
    // One spare byte lets the read that detects the end succeed without growing the buffer.
    try buffer.reserve((input.size ?? 0) + 1)
    while true {
      let count = try input.read(into: buffer.rawRoom)
      if count == 0 { return buffer }
      buffer.extend(by: count)
      if buffer.count > limit { throw tooLarge(input.shown) }
      try buffer.reserve(1)
    }
  }

  /// Copies the text.
  init(copying text: [UInt8], hasLines: Bool = true, isComplete: Bool = true) throws(ToolError) {
    buffer = ByteBuffer()
    encoding = nil
    self.hasLines = hasLines
    self.isComplete = isComplete
    try text.withElements { bytes throws(ToolError) in try buffer.append(bytes) }
  }

  /// Joins the arguments with spaces.
  convenience init(joining arguments: [ArgumentText]) throws(ToolError) {
    try self.init(
      copying: Array(arguments.map { Array($0.bytes) }.joined(separator: [UInt8(ascii: " ")])))
  }

  /// The text without a byte order mark and a line end at its end, which some models read as words. For commands that
  /// print no ranges of a file.
  var content: UnsafeBufferPointer<UInt8> { Self.withoutLineEnd(bytes[bytes.byteOrderMarkSize...]) }

  /// The lines of `content`. Text after the last line feed is a line unless it is empty.
  var lines: [UnsafeBufferPointer<UInt8>] {
    var lines: [UnsafeBufferPointer<UInt8>] = []
    var start = bytes.byteOrderMarkSize
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
      lines.append(Self.withoutLineEnd(bytes[start..<end]))
      start = end
    }
    return lines
  }

  private static func withoutLineEnd(
    _ text: Slice<UnsafeBufferPointer<UInt8>>
  ) -> UnsafeBufferPointer<UInt8> {
    var text = text
    if text.last == UInt8(ascii: "\n") { text.removeLast() }
    if text.last == UInt8(ascii: "\r") { text.removeLast() }
    return UnsafeBufferPointer(rebasing: text)
  }

  static func tooLarge(_ shown: String) -> ToolError {
    ToolError(.input, "\(shown) has more than \(limit) bytes, the most that a text may have: split it")
  }
}
