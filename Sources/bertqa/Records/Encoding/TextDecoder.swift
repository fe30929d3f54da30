/// The bytes of a text on their way to UTF-8. Their beginning tells UTF-16 with a byte order mark, which stays as
/// U+FEFF, and what is no text. UTF-8 stays as it is; bytes that are not valid in another encoding are escaped.
final class TextDecoder {
  /// nil for UTF-8, and while it is not known.
  private(set) var encoding: TextEncoding?
  /// Whether there were bytes that are not valid.
  private(set) var hasInvalid = false
  private let given: TextEncoding?
  private let shown: String
  private var isSettled = false
  private var converter: CharacterConverter?
  /// What is not converted yet.
  private let input = ByteBuffer()
  private var output: [UInt8] = []
  private var outputTaken = 0

  private static let chunk = 1 << 16

  /// - Parameter encoding: nil if the text's beginning tells.
  init(_ encoding: TextEncoding?, _ shown: String) {
    given = encoding
    self.shown = shown
  }

  /// Whether there is something to take.
  var hasMore: Bool { outputTaken < output.count }

  /// Whether the bytes that come next need not go through it.
  var isDone: Bool { isSettled && encoding == nil && !hasMore }

  /// Decides by the first bytes what the text is.
  func settle(by beginning: UnsafeBufferPointer<UInt8>) throws(ToolError) {
    isSettled = true
    let form = TextForm(beginningWith: beginning, hasEncoding: given != nil)
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

  /// Lets `read` give more bytes. Returns what it returns.
  /// - Parameter isEnd: whether 0 bytes are the end of the text.
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

  /// Puts into `room` what there is.
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
    var rest = Array(input.bytes[taken...])
    if isEnd, !rest.isEmpty {
      hasInvalid = true
      EscapedByte.append(rest, to: &output)
      rest = []
    }
    self.hasInvalid = hasInvalid
    input.truncate(to: 0)
    try rest.withElements { bytes throws(ToolError) in try input.append(bytes) }
  }
}
