/// Converts text from a `TextDecoder` back to its encoding. Escaped invalid bytes are restored.
final class TextEncoder {
  /// nil for UTF-8.
  private let converter: CharacterConverter?
  /// The first bytes of a character, or of an escape, that continues in the next call.
  private var pending: [UInt8] = []

  init(_ encoding: TextEncoding?) {
    converter = encoding.flatMap { CharacterConverter(from: "UTF-8", to: $0.name) }
  }

  /// Encodes `bytes`. A question mark replaces a character that the encoding lacks.
  func encode(_ bytes: [UInt8]) -> [UInt8] {
    let text = pending + bytes
    pending = []
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    text.withUnsafeBufferPointer { text in
      guard let converter else {
        pending = Self.restore(text, &output)
        return
      }
      let taken = converter.convert(text, to: &output) { rest, output in
        if let byte = EscapedByte.first(of: rest) {
          output.append(byte)
          return 3
        }
        guard let character = Self.first(of: rest) else {
          output.append(rest[0])
          return 1
        }
        let mark: [UInt8] = [UInt8(ascii: "?")]
        mark.withUnsafeBufferPointer { mark in _ = converter.convert(mark, to: &output) { _, _ in 1 } }
        return character
      }
      converter.finish(&output)
      pending = Array(text[taken...])
    }
    return output
  }

  /// Appends the text with its escapes restored. Returns the beginning of an escape at its end.
  private static func restore(_ text: UnsafeBufferPointer<UInt8>, _ output: inout [UInt8]) -> [UInt8] {
    var rest = text[...]
    while let lead = rest.firstIndex(of: 0xED) {
      output += rest[..<lead]
      rest = rest[lead...]
      if rest.count < 3, rest.dropFirst().allSatisfy({ $0 & 0xFC == 0xB0 }) { return Array(rest) }
      let byte = EscapedByte.first(of: rest)
      output.append(byte ?? 0xED)
      rest = rest.dropFirst(byte == nil ? 1 : 3)
    }
    output += rest
    return []
  }

  /// Returns the length in bytes of the first character; nil if it is invalid.
  private static func first(of text: UnsafeBufferPointer<UInt8>) -> Int? {
    var decoder = UTF8()
    var iterator = text.makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    return UTF8.width(scalar)
  }
}
