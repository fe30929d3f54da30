import Testing

@testable import BertQACore

@Suite struct UTF8CodecTests {
  @Test func decodesAsTheStandardLibraryRepairs() {
    var generator = SplitMix64(seed: 3)
    let alphabet: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC,
      0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF, 0xBF, 0xBD,
    ]
    for _ in 0..<20000 {
      let text = (0..<generator.next(below: 9)).map { _ in
        alphabet[generator.next(below: alphabet.count)]
      }
      text.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { return }
        var scalars: [UInt32] = []
        var boundaries = [0]
        var position = 0
        while position < text.count {
          let decoded = UTF8Codec.decode(base, at: position, end: text.count)
          scalars.append(decoded.scalar)
          position += decoded.size
          boundaries.append(position)
        }
        let string = String(decoding: text, as: UTF8.self)
        #expect(scalars == string.unicodeScalars.map(\.value))
        #expect(position == text.count)
        #expect(UTF8Codec.isValid(buffer) == (String(validating: text, as: UTF8.self) != nil))

        // Backwards the same scalars appear, but for how invalid bytes are grouped.
        var backwards: [UInt32] = []
        while position > 0 {
          let decoded = UTF8Codec.decodeBackwards(base, before: position, begin: 0)
          backwards.append(decoded.scalar)
          position -= decoded.size
        }
        #expect(backwards.reversed().filter { $0 != 0xFFFD } == scalars.filter { $0 != 0xFFFD })
      }
    }
  }

  @Test func encodesEveryScalar() {
    for value in stride(from: UInt32(0), to: 0x110000, by: 7) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let (bytes, count) = UTF8Codec.encode(value)
      let expected = Array(String(Character(scalar)).utf8)
      #expect((0..<count).map { UInt8(truncatingIfNeeded: bytes >> UInt32($0 * 8)) } == expected)
    }
  }
}
