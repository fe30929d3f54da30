import Synchronization

@testable import BertQACore

/// A tiny WordPiece: words are split at white space and punctuation and cut into the longest pieces of a
/// given vocabulary. Invalid bytes are dropped. Two characters have odd offsets, as normalisation makes
/// them: ß is two pieces of one word with the same bytes, ½ two words with the same bytes.
final class FakeTokenizer: Tokenizer {
  let pieces: [[UInt8]]
  let clsID: Int32 = 0
  let sepID: Int32 = 1
  let unkID: Int32 = 2
  private let ids: [ArraySlice<UInt8>: Int32]
  private let longest: Int
  let template: Template
  let textsRead = Mutex(0)

  init(_ vocabulary: [String], template: Template = Template(prefix: [0], separator: [1], suffix: [1])) {
    self.template = template
    let odd = ["s", "##s", "1", "2"]
    pieces = (["[CLS]", "[SEP]", "[UNK]"] + odd + vocabulary).map { Array($0.utf8) }
    ids = Dictionary(zip(pieces.map { $0[...] }, 0...)) { first, _ in first }
    longest = pieces.map(\.count).max() ?? 0
  }

  var vocabularySize: Int { pieces.count }
  var lowercases: Bool { false }

  func piece(_ id: Int32) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: nil, count: 0) }

  func id(of piece: UnsafeBufferPointer<UInt8>) -> Int32? { ids[Array(piece)[...]] }

  func continuesWord(_ id: Int32) -> Bool {
    pieces[Int(id)].starts(with: Array("##".utf8))
  }

  func agrees(with other: any Tokenizer) -> Bool { self === other }

  func id(_ piece: String) -> Int32 { ids[Array(piece.utf8)[...]] ?? unkID }

  func tokenize(
    _ text: UnsafeBufferPointer<UInt8>, parseSpecialTokens: Bool, into tokens: inout Tokens,
    _ monitor: CallMonitor?
  ) throws(BertQAError) {
    textsRead.withLock { $0 += 1 }
    tokens = Tokens()
    var wordStart: Int?
    var position = 0
    while position < text.count {
      let unit = UTF8Codec.decode(text, at: position)
      let end = position + unit.size
      let isOdd = unit.unicodeScalar == "ß" || unit.unicodeScalar == "½"
      let isPunctuation = "?!.,()".unicodeScalars.contains(unit.unicodeScalar)
      let isBreak = unit.unicodeScalar.properties.isWhitespace || unit.unicodeScalar == "\u{FFFD}"
      if isOdd || isPunctuation || isBreak {
        if let start = wordStart { append(text, start, position, &tokens) }
        wordStart = nil
      } else if wordStart == nil {
        wordStart = position
      }
      if isPunctuation { append(text, position, end, &tokens) }
      if unit.unicodeScalar == "ß" { append(["s", "##s"], position, end, &tokens) }
      if unit.unicodeScalar == "½" { append(["1", "2"], position, end, &tokens) }
      position = end
    }
    if let start = wordStart { append(text, start, position, &tokens) }
  }

  private func append(_ pieces: [String], _ start: Int, _ end: Int, _ tokens: inout Tokens) {
    for piece in pieces { append(id(piece), start, end, &tokens) }
  }

  private func append(_ id: Int32, _ start: Int, _ end: Int, _ tokens: inout Tokens) {
    tokens.ids.append(id)
    tokens.starts.append(UInt32(start))
    tokens.ends.append(UInt32(end))
  }

  private func append(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int, _ tokens: inout Tokens) {
    let known = tokens.ids.count
    var position = start
    while position < end {
      let prefix = position == start ? [] : Array("##".utf8)
      var length = min(longest, end - position)
      while length > 0, ids[(prefix + text[position..<(position + length)])[...]] == nil { length -= 1 }
      if length == 0 {
        tokens.ids.removeSubrange(known...)
        tokens.starts.removeSubrange(known...)
        tokens.ends.removeSubrange(known...)
        return append(unkID, start, end, &tokens)
      }
      let id = ids[(prefix + text[position..<(position + length)])[...]] ?? unkID
      append(id, position, position + length, &tokens)
      position += length
    }
  }
}
