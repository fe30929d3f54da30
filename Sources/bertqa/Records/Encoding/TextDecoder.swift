/// Converts a text to UTF-8 as it arrives. The first bytes identify UTF-16 with a byte order mark, which
/// becomes U+FEFF, and data that is not text. UTF-8 is passed through. Bytes that are invalid in another
/// encoding are escaped.
final class TextDecoder {
  /// nil if the text is UTF-8 or its encoding is not known yet.
  private(set) var encoding: TextEncoding?
  /// True if the text had invalid bytes.
  private(set) var hasInvalid = false
  private let given: TextEncoding?
  private let shown: String
  private var isSettled = false
  private var converter: CharacterConverter?
  /// Bytes that are not converted yet.
  private let input = ByteBuffer()
  private var output: [UInt8] = []
  private var outputTaken = 0

  private static let chunk = 1 << 16

  /// - Parameter encoding: nil detects the encoding from the first bytes.
  init(_ encoding: TextEncoding?, _ shown: String) {
    given = encoding
    self.shown = shown
  }

  /// True if converted bytes are available.
  var hasMore: Bool { outputTaken < output.count }

  /// True if the remaining bytes can bypass the decoder.
  var isDone: Bool { isSettled && encoding == nil && !hasMore }

  /// Detects the encoding from the first bytes.
  func settle(by beginning: UnsafeBufferPointer<UInt8>) throws(ToolError) {
    isSettled = true
    let form = TextForm(beginningWith: beginning, as: given)
    if case .noText(let kind) = form { throw ToolError(.input, "\(shown): looks like \(kind)") }
    if let given {
      encoding = given.isUTF8 ? nil : given.resolved(by: beginning)
    } else if case .utf16 = form {
      encoding = TextEncoding("UTF-16")?.resolved(by: beginning)
      guard encoding != nil else {
        throw ToolError(.input, "\(shown) is UTF-16, which iconv cannot read here")
      }
    }
    converter = encoding.flatMap { CharacterConverter(from: $0.name, to: "UTF-8") }
  }

  /// Lets `read` supply more bytes. Returns the result of `read`.
  /// - Parameter isEnd: true if 0 bytes mean the end of the text.
  func fill(
    isEnd: Bool, _ read: (UnsafeMutableRawBufferPointer) throws(ToolError) -> Int?
  ) throws(ToolError) -> Int? {
    try input.reserve(Self.chunk)
    guard let count = try read(UnsafeMutableRawBufferPointer(rebasing: input.rawRoom.prefix(Self.chunk)))
    else {
      return nil
    }
    input.extend(by: count)
    try convert(isEnd: isEnd && count == 0)
    return count
  }

  /// Writes available bytes to `room`.
  func take(into room: UnsafeMutableRawBufferPointer) -> Int {
    let part = output[outputTaken...].prefix(room.count)
    room.copyBytes(from: part)
    outputTaken += part.count
    if outputTaken == output.count {
      output.removeAll(keepingCapacity: true)
      outputTaken = 0
    }
    return part.count
  }

  private func convert(isEnd: Bool) throws(ToolError) {
    if !isSettled {
      if !isEnd, TextForm.mayBegin(with: input.bytes) { return }
      try settle(by: input.bytes)
    }
    guard let converter, let encoding else {
      output += input.bytes
      return input.truncate(to: 0)
    }
    var hasInvalid = hasInvalid
    let taken = converter.convert(input.bytes, to: &output) { rest, output in
      hasInvalid = true
      EscapedByte.append(rest.prefix(encoding.unitSize), to: &output)
      return encoding.unitSize
    }
    if isEnd { converter.finish(&output) }
    input.removeFirst(taken)
    if isEnd, input.count > 0 {
      hasInvalid = true
      EscapedByte.append(input.bytes, to: &output)
      input.truncate(to: 0)
    }
    self.hasInvalid = hasInvalid
  }
}
