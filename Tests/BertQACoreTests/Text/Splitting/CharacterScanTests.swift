import Testing

@testable import BertQACore

/// Loops that look at several bytes at once find what one character after the other shows.
@Suite struct CharacterScanTests {
  private static func utf8(_ scalar: UInt32) -> [UInt8] {
    Unicode.Scalar(scalar).map { Array(String($0).utf8) } ?? []
  }

  private static let padding = [UInt8](repeating: 0, count: NormalizedText.padding)

  @Test func everySpaceIsFound() throws {
    let pattern = SpacePattern()
    var poll = TextPoll(nil)
    for scalar: UInt32 in 1..<0x20000 where CharacterClass.isWhiteSpace(scalar) {
      let character = Self.utf8(scalar)
      for count in [0, 3, 15, 16, 17] {
        let text = [UInt8](repeating: 0x61, count: count) + character + [0x62]
        let match = try (text + Self.padding).withUnsafeBufferPointer {
          try pattern.match(in: $0.baseAddress!, from: 0, to: text.count, &poll)
        }
        #expect(match?.start == count && match?.end == count + character.count, "\(scalar) \(count)")
      }
    }
  }

  @Test func nothingElseIsASpace() throws {
    var random = TestRandom(8)
    var poll = TextPoll(nil)
    let characters: [UInt32] = [
      0x1, 0x1F, 0x20, 0x41, 0x80, 0x85, 0x86, 0xA0, 0xA1, 0xE1, 0x1680, 0x1681, 0x180E, 0x2000, 0x200B,
      0x2028,
      0x20AC, 0x3000, 0x3001, 0x3042, 0x4E2D, 0xFEFF, 0x1F600,
    ]
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 1...40, using: &random))
        .flatMap { _ in Self.utf8(characters.randomElement(using: &random)!) }
      try (text + Self.padding).withUnsafeBufferPointer {
        var position = 0
        while position < text.count {
          let found = try SpacePattern().match(
            in: $0.baseAddress!, from: position, to: text.count, &poll)
          let expected = try ClassPattern(.space).match(
            in: $0.baseAddress!, from: position, to: text.count, &poll)
          #expect(found?.start == expected?.start && found?.end == expected?.end, "\(text)")
          position = expected?.end ?? text.count
        }
      }
    }
  }

  @Test func bytesAreFoundWhereverTheyLie() {
    for count in 0...40 {
      for place in 0...count {
        var text = [UInt8](repeating: 0x61, count: count) + Self.padding
        // Bytes after the end are not read.
        text[count] = 0xE4
        text[place] = 0x80
        text.withUnsafeBufferPointer {
          #expect(ByteScan.endOfASCII(in: $0.baseAddress!, from: 0, to: count) == place)
          #expect(ByteScan.first(of: 0x20, or: 0x80, in: $0.baseAddress!, from: 0, to: count) == place)
          #expect(ByteScan.first(of: 0x80, or: 0x20, in: $0.baseAddress!, from: 0, to: count) == place)
        }
      }
    }
  }

  @Test func kindsAreThoseOfTheClasses() {
    for scalar: UInt32 in 1..<0x11000 where Unicode.Scalar(scalar) != nil {
      let character = Self.utf8(scalar)
      let (kind, size) = (character + Self.padding).withUnsafeBufferPointer {
        CharacterKinds.shared.kind($0.baseAddress!, 0, character.count)
      }
      let isNewline = scalar == 0x0A || scalar == 0x0D
      #expect(
        size == character.count
          && UInt16(kind.rawValue) == CharacterClass.of(scalar).rawValue & 7 | (isNewline ? 8 : 0),
        "\(scalar)")
    }
  }

  /// Every beginning of two bytes with thirds of all sorts, in one text.
  @Test func loadingReadsAsDecoding() throws {
    var text = Array("plain".utf8)
    for lead: UInt8 in 0xBF...0xFF {
      for second in UInt8.min ... .max {
        for third: UInt8 in [0x41, 0x80, 0xBF, 0xE4] { text += [lead, second, third, 0x61] }
      }
    }
    text += [0xE4, 0xB8]
    var loaded = NormalizedText()
    try text.withUnsafeBufferPointer { try loaded.load($0, 0..<$0.count, nil) }
    var index = 0
    var position = 0
    while position < text.count, index < loaded.count {
      let decoded = text.withUnsafeBufferPointer { UTF8Codec.decode($0, at: position) }
      let character = Self.utf8(decoded.scalar)
      for byte in character {
        let source = loaded.source(of: index)
        guard loaded.base[index] == byte, Int(source.start) == position,
          Int(source.end) == position + decoded.size
        else {
          Issue.record("byte \(index), made from \(position)")
          return
        }
        index += 1
      }
      position += decoded.size
    }
    #expect(position == text.count && index == loaded.count)
  }
}
