import Testing

@testable import BertQACore

@Suite struct LongPieceTests {
  /// The longest of `pieces` of more than 15 bytes that `text` begins with, by trying each; of equal ones the last.
  private static func longest(_ pieces: [[UInt8]], _ text: ArraySlice<UInt8>, isNext: Bool) -> (Int32, Int) {
    var best: (Int32, Int) = (-1, 0)
    for (id, piece) in pieces.enumerated() {
      let hasMark = piece.starts(with: Array("##".utf8))
      let content = hasMark ? piece[2...] : piece[...]
      guard hasMark == isNext, (16...400).contains(content.count), content.count >= best.1 else { continue }
      if text.starts(with: content) { best = (Int32(id), content.count) }
    }
    return best
  }

  private static func match(
    _ matcher: PieceMatcher, _ text: ArraySlice<UInt8>, isNext: Bool
  ) -> (Int32, Int) {
    let padded = Array(text) + [UInt8](repeating: 0, count: 16)
    return padded.withUnsafeBufferPointer {
      let found = matcher.longestLongMatch(
        $0.baseAddress!, remaining: text.count, continuation: isNext ? 1 : 0)
      return (found.id, found.length)
    }
  }

  /// Few letters and many common beginnings, so that every possible error of a search occurs.
  @Test func findsTheLongest() throws {
    var random = TestRandom(7)
    for round in 0..<60 {
      var pieces: [[UInt8]] = []
      let stem = (0..<40).map { _ in UInt8.random(in: 0x61...0x62, using: &random) }
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        var piece = Array(stem.prefix(Int.random(in: 14...40, using: &random)))
        if Bool.random(using: &random) { piece[piece.count - 1] ^= 3 }
        if round % 7 == 0 {
          piece += [UInt8](repeating: 0x61, count: Int.random(in: 0...390, using: &random))
        }
        pieces.append(Bool.random(using: &random) ? piece : Array("##".utf8) + piece)
      }
      let matcher = try PieceMatcher(Vocabulary(pieces: pieces))
      for _ in 0..<60 {
        var text = Array(stem.prefix(Int.random(in: 0...40, using: &random)))
        for _ in 0..<Int.random(in: 0...6, using: &random) where !text.isEmpty {
          text.append(UInt8.random(in: 0x61...0x62, using: &random))
        }
        if round % 7 == 0 { text += [UInt8](repeating: 0x61, count: Int.random(in: 0...300, using: &random)) }
        for isNext in [false, true] {
          let found = Self.match(matcher, text[...], isNext: isNext)
          #expect(found == Self.longest(pieces, text[...], isNext: isNext))
        }
      }
    }
  }

  /// Tries take many times the bytes of their pieces.
  @Test func boundsTheBytesOfLongPieces() {
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 400)
    let error = failure {
      _ = try PieceMatcher(Vocabulary(pieces: Array(repeating: piece, count: 90_000)))
    }
    #expect(error?.status == .tooLarge)
    #expect(error?.message.contains("have 36000000 bytes") == true, "\(String(describing: error))")
  }
}
