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
    _ index: PieceIndex, _ text: ArraySlice<UInt8>, isNext: Bool, work: inout Int
  ) -> (Int32, Int) {
    let padded = Array(text) + [UInt8](repeating: 0, count: 16)
    return padded.withUnsafeBufferPointer {
      let found = index.longestLongMatch(
        $0.baseAddress!, remaining: text.count, continuation: isNext ? 1 : 0, work: &work)
      return (found.id, found.length)
    }
  }

  /// Few letters and many common beginnings, so that every possible error of a search occurs.
  @Test func findsTheLongest() throws {
    var random = SeededGenerator(state: 7)
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
      let index = try Vocabulary(pieces: pieces).index
      for _ in 0..<60 {
        var text = Array(stem.prefix(Int.random(in: 0...40, using: &random)))
        for _ in 0..<Int.random(in: 0...6, using: &random) where !text.isEmpty {
          text.append(UInt8.random(in: 0x61...0x62, using: &random))
        }
        if round % 7 == 0 { text += [UInt8](repeating: 0x61, count: Int.random(in: 0...300, using: &random)) }
        for isNext in [false, true] {
          var work = 0
          let found = Self.match(index, text[...], isNext: isNext, work: &work)
          #expect(found == Self.longest(pieces, text[...], isNext: isNext))
        }
      }
    }
  }

  /// Pieces of all lengths with one beginning, for a word that is almost each of them: ten comparisons of it at most,
  /// rather than one for each of the 385 lengths.
  @Test func workIsBoundedForPiecesOfOneBeginning() throws {
    for letter in [UInt8(ascii: "a"), UInt8(ascii: "b")] {
      var pieces: [[UInt8]] = [Array("a".utf8), Array("##a".utf8)]
      for count in 16...400 {
        // Only the last byte differs from the word's: no piece is found.
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: count - 1) + [letter]
        pieces.append(piece)
        pieces.append(Array("##".utf8) + piece)
      }
      let index = try Vocabulary(pieces: pieces).index
      let word = [UInt8](repeating: UInt8(ascii: "a"), count: 400)
      for start in stride(from: 0, to: 380, by: 19) {
        let text = word[start...]
        var work = 0
        let found = Self.match(index, text, isNext: start > 0, work: &work)
        #expect(found.1 == (letter == UInt8(ascii: "a") ? text.count : 0))
        #expect(work <= 10 * (text.count / 8 + 2) + 20)
      }
    }
  }
}
