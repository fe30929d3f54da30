import Testing

@testable import BertQACore

@Suite struct VocabularyTests {
  private func read(_ file: String) throws -> Vocabulary { try read(Array(file.utf8)) }

  private func read(_ file: [UInt8]) throws -> Vocabulary {
    try file.withUnsafeBufferPointer { try Vocabulary(vocabularyFile: $0) }
  }

  private func strings(_ vocabulary: Vocabulary) -> [String] {
    (0..<Int32(vocabulary.count)).map { String(decoding: vocabulary.piece($0), as: UTF8.self) }
  }

  @Test func linesAreIDs() throws {
    for file in ["a\nb\n##c\n", "a\nb\n##c", "a\r\nb\r\n##c\r\n", "a \nb\t\n##c\u{2003}\u{A0}"] {
      let vocabulary = try read(file)
      #expect(strings(vocabulary) == ["a", "b", "##c"])
      #expect(vocabulary.id(of: "##c") == 2)
      #expect(vocabulary.id(of: "c") == nil)
    }
    #expect(try read("").count == 0)
    #expect(strings(try read("\n\nx\n")) == ["", "", "x"])
    // Only LF ends a line; leading white space belongs to the piece.
    #expect(strings(try read("a\rb\u{2028}c\n x")) == ["a\rb\u{2028}c", " x"])
  }

  @Test func lastOfEqualPiecesIsFound() throws {
    let vocabulary = try read("a\nb\na\n##a\n\n\n")
    #expect(vocabulary.count == 6)
    #expect(vocabulary.id(of: "a") == 2)
    #expect(vocabulary.id(of: "") == 5)
  }

  @Test func findsPiecesOfAnyLength() throws {
    var pieces: [String] = ["", "#", "##", "###", "a\0", "a\0\0"]
    for count in Array(1...40) + [100, 399, 400, 401, 5000] {
      for prefix in ["", "##"] {
        pieces.append(prefix + String(repeating: "q", count: count))
        pieces.append(prefix + String(repeating: "q", count: count - 1) + "é")
      }
    }
    let vocabulary = try Vocabulary(pieces: pieces.map { Array($0.utf8) })
    for (id, piece) in pieces.enumerated() {
      #expect(vocabulary.id(of: piece) == Int32(id), "\(piece)")
      let isContinuation = vocabulary.index.content(of: Int32(id)).continuation == 1
      #expect(isContinuation == piece.hasPrefix("##"))
    }
    for absent in ["qa", "##qa", "a", "a\0\0\0", String(repeating: "q", count: 41)] {
      #expect(vocabulary.id(of: absent) == nil)
    }
  }

  @Test func unknownIDsAreHarmless() throws {
    let vocabulary = try read("##a\n")
    for id: Int32 in [-1, 1, .max, .min] {
      #expect(vocabulary.piece(id).isEmpty)
    }
  }

  @Test func invalidUTF8IsRefused() throws {
    for bytes: [UInt8] in [[0x61, 0x0A, 0xC3], [0x61, 0x0A, 0xED, 0xA0, 0x80], [0x61, 0x0A, 0xFF, 0x0A]] {
      do {
        _ = try read(bytes)
        Issue.record("\(bytes) was accepted")
      } catch let error as BertQAError {
        #expect(error.status == .invalidModel)
        #expect(error.message.contains("piece 1 "))
      }
    }
    #expect(strings(try read("\u{FFFD}\n")) == ["\u{FFFD}"])
  }

  @Test func tooManyPiecesAreRefused() throws {
    do {
      _ = try read([UInt8](repeating: 0x0A, count: (1 << 22) + 1))
      Issue.record("more than 2²² pieces were accepted")
    } catch let error as BertQAError {
      #expect(error.status == .tooLarge)
    }
  }

  @Test func piecesChosenToCollideAreStillFound() throws {
    // Pieces that all hash to one slot of a table of 1,024 with the first multipliers.
    let plain = try read("a").index.short
    #expect(plain.slotMask == 1023)
    var pieces: [[UInt8]] = []
    var generator = SplitMix64(seed: 1)
    while pieces.count < 250 {
      let piece = (0..<15).map { _ in UInt8(97 + generator.next(below: 26)) }
      let key = (piece + [0]).withUnsafeBufferPointer {
        PieceKey(loading: $0.baseAddress!).prefix(15, continuation: 0)
      }
      let hash = key.low &* plain.multiplier.low &+ key.high &* plain.multiplier.high
      if hash >> plain.slotShift == 5 { pieces.append(piece) }
    }
    let vocabulary = try Vocabulary(pieces: pieces)
    #expect(vocabulary.index.short.slotMask == 1023)
    #expect(vocabulary.index.short.multiplier != plain.multiplier)
    for (id, piece) in pieces.enumerated() {
      #expect(piece.withUnsafeBufferPointer { vocabulary.id(of: $0) } == Int32(id))
    }
  }
}
