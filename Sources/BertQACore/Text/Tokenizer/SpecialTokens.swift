/// The strings of the special tokens, found in a text as Hugging Face finds them by default: in the
/// raw text before normalisation, anywhere, the leftmost first and of several there the longest.
struct SpecialTokens: Sendable {
  private let tokens: [(bytes: [UInt8], id: Int32)]
  private let isFirstByte: [Bool]

  init(configuration: TokenizerConfiguration, vocabulary: Vocabulary) {
    let strings = [
      configuration.unkToken, configuration.sepToken, configuration.padToken,
      configuration.clsToken, configuration.maskToken,
    ]
    var tokens: [(bytes: [UInt8], id: Int32)] = []
    var isFirstByte = [Bool](repeating: false, count: 256)
    for string in strings {
      let bytes = Array(string.utf8)
      guard let first = bytes.first, let id = vocabulary.id(of: string) else { continue }
      tokens.append((bytes, id))
      isFirstByte[Int(first)] = true
    }
    self.tokens = tokens.sorted { $0.bytes.count > $1.bytes.count }
    self.isFirstByte = isFirstByte
  }

  /// The first special token that begins at or after `position` and before `limit`.
  func firstMatch(
    in text: UnsafeBufferPointer<UInt8>, from position: Int, before limit: Int
  ) -> (range: Range<Int>, id: Int32)? {
    var position = position
    while position < min(limit, text.count) {
      if isFirstByte[Int(text[position])] {
        for (bytes, id) in tokens where bytes.count <= text.count - position {
          if text[position..<position + bytes.count].elementsEqual(bytes) {
            return (position..<position + bytes.count, id)
          }
        }
      }
      position += 1
    }
    return nil
  }
}
