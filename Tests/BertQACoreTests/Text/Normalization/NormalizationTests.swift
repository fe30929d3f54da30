import Testing

@testable import BertQACore

@Suite struct NormalizationTests {
  /// The text and for each of its characters the range that it was made from.
  private static func normalize(
    _ text: String, _ normalizers: any Normalizer...
  ) throws -> (text: String, ranges: [Range<Int>]) {
    var preTokens = PreTokens()
    try Array(text.utf8).withUnsafeBufferPointer { try preTokens.text.load($0, 0..<$0.count, nil) }
    for normalizer in normalizers { try preTokens.normalize(with: normalizer, nil) }
    let bytes = Array(UnsafeBufferPointer(start: preTokens.text.base, count: preTokens.text.count))
    let ranges = bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 }.map {
      let source = preTokens.text.source(of: $0)
      return Int(source.start)..<Int(source.end)
    }
    return (String(decoding: bytes, as: UTF8.self), ranges)
  }

  private static func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

  @Test func formsOfUnicode() throws {
    // From NormalizationTest.txt of the Unicode Character Database, part 0 and 1: source, NFC, NFD, NFKC, NFKD.
    let cases: [[[UInt32]]] = [
      [[0x1E0A], [0x1E0A], [0x44, 0x307], [0x1E0A], [0x44, 0x307]],
      [
        [0x44, 0x323, 0x307], [0x1E0C, 0x307], [0x44, 0x323, 0x307], [0x1E0C, 0x307], [0x44, 0x323, 0x307],
      ],
      [[0x1E0A, 0x323], [0x1E0C, 0x307], [0x44, 0x323, 0x307], [0x1E0C, 0x307], [0x44, 0x323, 0x307]],
      [[0xAC00], [0xAC00], [0x1100, 0x1161], [0xAC00], [0x1100, 0x1161]],
      [
        [0x1100, 0xAC00, 0x11A8], [0x1100, 0xAC01], [0x1100, 0x1100, 0x1161, 0x11A8], [0x1100, 0xAC01],
        [0x1100, 0x1100, 0x1161, 0x11A8],
      ],
      [[0xFB01], [0xFB01], [0xFB01], [0x66, 0x69], [0x66, 0x69]],
      [[0x344], [0x308, 0x301], [0x308, 0x301], [0x308, 0x301], [0x308, 0x301]],
      [
        [0x9C7, 0x334, 0x9BE], [0x9C7, 0x334, 0x9BE], [0x9C7, 0x334, 0x9BE], [0x9C7, 0x334, 0x9BE],
        [0x9C7, 0x334, 0x9BE],
      ],
      [[0x9C7, 0x9BE], [0x9CB], [0x9C7, 0x9BE], [0x9CB], [0x9C7, 0x9BE]],
      [[0x212B], [0xC5], [0x41, 0x30A], [0xC5], [0x41, 0x30A]],
      [
        [0x61, 0x315, 0x300, 0x5AE, 0x300, 0x62], [0xE0, 0x5AE, 0x300, 0x315, 0x62],
        [0x61, 0x5AE, 0x300, 0x300, 0x315, 0x62], [0xE0, 0x5AE, 0x300, 0x315, 0x62],
        [0x61, 0x5AE, 0x300, 0x300, 0x315, 0x62],
      ],
    ]
    for row in cases {
      let text = String(String.UnicodeScalarView(row[0].compactMap(Unicode.Scalar.init)))
      for (form, expected) in zip([NormalizationForm.nfc, .nfd, .nfkc, .nfkd], row[1...]) {
        #expect(
          Self.scalars(try Self.normalize(text, FormNormalizer(form)).text) == expected, "\(row[0]) \(form)")
        #expect(
          Self.scalars(try Self.normalize("b" + text + "c", FormNormalizer(form)).text) == [0x62] + expected
            + [0x63])
      }
    }
  }

  @Test func rangesOfForms() throws {
    let composed = try Self.normalize("xe\u{301}y", FormNormalizer(.nfc))
    #expect(composed.text.unicodeScalars.count == 3)
    #expect(composed.ranges == [0..<1, 1..<2, 4..<5])
    let decomposed = try Self.normalize("xéy", FormNormalizer(.nfd))
    #expect(decomposed.ranges == [0..<1, 1..<3, 1..<3, 3..<4])
  }

  /// Characters that are copied, replaced by themselves or changed with their neighbours, in every
  /// combination.
  @Test(arguments: [NormalizationForm.nfc, .nfd, .nfkc, .nfkd])
  func formsOfRandomTexts(form: NormalizationForm) throws {
    let characters: [UInt32] = [
      0x41, 0x65, 0xA0, 0xE9, 0x301, 0x323, 0x340, 0x3A9, 0x958, 0x1100, 0x1161, 0x11A8, 0x2126, 0x212B,
      0x3000,
      0x3099, 0x30AB, 0x4E2D, 0xAC00, 0xF900, 0xFB01, 0xFF0C, 0xFF21, 0xFF76, 0xFF9E, 0xFFA1, 0xFFC2, 0x1D400,
      0x2F800,
    ]
    var random = TestRandom(12)
    for _ in 0..<3000 {
      let scalars = (0..<Int.random(in: 1...9, using: &random)).map { _ in
        characters.randomElement(using: &random)!
      }
      let text = String(String.UnicodeScalarView(scalars.compactMap(Unicode.Scalar.init)))
      let found = try Self.normalize(text, FormNormalizer(form))
      let expected = try Self.normalize(text, OneRun(form: form))
      #expect(found.text.unicodeScalars.elementsEqual(expected.text.unicodeScalars), "\(scalars)")
      #expect(found.ranges == expected.ranges, "\(scalars)")
    }
  }

  /// The whole text as characters that may all become others together.
  private struct OneRun: Normalizer {
    let form: NormalizationForm

    func normalize(
      _ text: borrowing NormalizedText, into target: inout NormalizedText, _ monitor: CallMonitor?
    ) throws(BertQAError) {
      var run = NormalizationRun(form: form)
      var position = 0
      while position < text.count {
        let decoded = UTF8Codec.decode(text.base, at: position, end: text.count)
        try run.append(decoded.scalar, .shared, monitor)
        position += decoded.size
      }
      try run.write(from: 0, text, into: &target, .shared, monitor)
      try target.seal()
    }
  }

  /// Matches without anything between them are counted like what lies between.
  @Test func aReplacementOfEverythingCanBeCancelled() throws {
    var preTokens = PreTokens()
    let text = [UInt8](String(repeating: "ab", count: 1 << 16).utf8)
    try text.withUnsafeBufferPointer { try preTokens.text.load($0, 0..<$0.count, nil) }
    try preTokens.text.writeSources()
    var options = CallOptions()
    options.cancellation = Cancellation { true }
    let replacer = try Replacer(ReplacementPattern(string: "ab"), with: "x")
    var replaced = NormalizedText()
    replaced.removeAll(begin: 0)
    do {
      try replacer.normalize(preTokens.text, into: &replaced, CallMonitor(options))
      Issue.record("it was not asked")
    } catch {
      #expect(error.status == .cancelled)
    }
  }

  /// What is replaced, looked up or put in order as one may be as long as the text.
  @Test func oneLongPartCanBeCancelled() throws {
    func error(_ text: String, _ body: (borrowing PreTokens, CallMonitor) throws -> Void) throws -> Status? {
      var preTokens = PreTokens()
      try Array(text.utf8).withElements { text throws(BertQAError) in
        try preTokens.text.load(text, 0..<text.count, nil)
      }
      try preTokens.text.writeSources()
      var options = CallOptions()
      options.cancellation = Cancellation { true }
      do { try body(preTokens, CallMonitor(options)) } catch let error as BertQAError { return error.status }
      return nil
    }
    func normalize(_ text: String, _ normalizer: any Normalizer) throws -> Status? {
      try error(text) { preTokens, monitor in
        var target = NormalizedText()
        target.removeAll(begin: 0)
        try normalizer.normalize(preTokens.text, into: &target, monitor)
      }
    }
    let spaces = String(repeating: " ", count: 1 << 17)
    let pattern = try ReplacementPattern(regularExpression: #"\s{2,}"#)
    #expect(try error(spaces) { _ = try pattern.firstMatch($0.text, from: 0, $1) } == .cancelled)
    let marks = "a" + String(repeating: "\u{301}", count: 1 << 17)
    #expect(try normalize(marks, Self.map()) == .cancelled)
    // Dropped characters do not end a run of marks.
    let dropped = "\u{302E}" + String(repeating: "\u{1}", count: 1 << 17)
    #expect(try normalize(dropped, BertNormalizer(TokenizerConfiguration())) == .cancelled)
    #expect(
      try error(spaces) { _ = try Self.map().leaves($0.text, $1) } == .cancelled)
  }

  /// Places in a normalised text have 32 bits.
  @Test func aTextCanGrowToItsLimit() {
    let error = failure {
      var text = NormalizedText()
      try text.append(scalar: 0x61, from: SourceRange(start: 0, end: 1))
      try text.makeRoom(for: TextLimit.byteCount)
    }
    #expect(error?.status == .tooLarge)
  }

  @Test func manyMarks() throws {
    let marks = String(repeating: "\u{301}\u{323}", count: 50_000)
    let result = try Self.normalize("a" + marks, FormNormalizer(.nfd))
    #expect(
      result.text.unicodeScalars.elementsEqual(
        ("a" + String(repeating: "\u{323}", count: 50_000) + String(repeating: "\u{301}", count: 50_000))
          .unicodeScalars))
  }

  /// The rules "ab" → "x", "é" → "" and "½" → "1/2".
  private static func map() throws -> CharacterMapNormalizer {
    // The children of each node have a block of their own, the root's the second one.
    var nodes = [UInt32](repeating: 0, count: 2048)
    var free = 512
    func add(_ rule: [UInt8], _ value: UInt32) {
      var place = 256
      var last = 0
      for byte in rule {
        last = place ^ Int(byte)
        if nodes[last] == 0 {
          nodes[last] = UInt32(byte) | UInt32(last ^ free) << 10
          free += 256
        }
        place = last ^ Int(nodes[last] >> 10)
      }
      nodes[last] |= 0x100
      nodes[place] = value | 1 << 31
    }
    nodes[0] = 256 << 10
    let texts = Array("x\0\u{0}1/2\0".utf8)
    add(Array("ab".utf8), 0)
    add(Array("é".utf8), 2)
    add(Array("½".utf8), 3)
    var bytes = withUnsafeBytes(of: UInt32(4 * nodes.count).littleEndian) { Array($0) }
    for node in nodes { withUnsafeBytes(of: node.littleEndian) { bytes += $0 } }
    bytes += texts
    return try bytes.withUnsafeBytes { try CharacterMapNormalizer(CharacterMap($0)) }
  }

  @Test func rulesOfSentencePiece() throws {
    let map = try Self.map()
    #expect(try Self.normalize("plain 中", map).text == "plain 中")
    let halves = try Self.normalize("a½b", map)
    #expect(halves.text == "a1/2b")
    #expect(halves.ranges == [0..<1, 1..<3, 1..<3, 1..<3, 3..<4])
    // Dropped characters do not change ranges except at the beginning, as in the reference.
    let dropped = try Self.normalize("xéy", map)
    #expect(dropped.text == "xy")
    #expect(dropped.ranges == [0..<1, 3..<4])
    #expect(try Self.normalize("éxy", map).ranges == [0..<2, 2..<3])
    // A cluster has the rule of its beginning, up to five bytes of it.
    #expect(try Self.normalize("½\u{301}", map).text == "1/2")
    #expect(try Self.normalize("½\u{301}\u{301}", map).text == "1/2\u{301}\u{301}")
  }

  @Test func rulesThatAreNone() {
    for (text, message) in [
      ("AAA", "base64"), ("AAA=", "bytes"), ("/////w==", "trie"), ("BAAAAAAAAAD/", "UTF-8"),
    ] {
      let error = failure { _ = try CharacterMap.decode(base64: text) }
      #expect(error?.status == .invalidModel)
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  /// Nodes that lead out of the trie or to no text end the search.
  @Test func hostileRules() throws {
    var random = TestRandom(3)
    for _ in 0..<30 {
      var bytes: [UInt8] = [64, 0, 0, 0]
      for _ in 0..<64 { bytes.append(UInt8.random(in: 0...255, using: &random)) }
      bytes += Array("ab\0c".utf8)
      let normalizer = try bytes.withUnsafeBytes { try CharacterMapNormalizer(CharacterMap($0)) }
      _ = try Self.normalize("any text ½ é 中 \u{1}", normalizer)
    }
  }

  @Test func patterns() throws {
    func replaced(_ expression: String, _ text: String) throws -> String {
      try Self.normalize(text, Replacer(ReplacementPattern(regularExpression: expression), with: "_")).text
    }
    #expect(try replaced(" {2,}", "a  b c   ") == "a_b c_")
    #expect(try replaced(#"\s{2,}|[\n\r\t]"#, "a \nb\tc d") == "a_b_c d")
    #expect(try replaced("x{2}", "xxxxx") == "__x")
    #expect(try replaced(#"\s+"#, " \u{3000}a\u{85}") == "_a_")
    #expect(try replaced("[ab]+|é", "abbaxé") == "_x_")
    for unsupported in [
      "", "a*", "(a)", "^a", "a.", "[^a]", "[a-z]", #"\w"#, "a{2,3}", "a+?", "a|", "[", "{2}", "a{65}",
    ] {
      let error = failure { _ = try ReplacementPattern(regularExpression: unsupported) }
      #expect(error?.status == .unsupported, "\(unsupported)")
    }
    let string = try Replacer(ReplacementPattern(string: "``"), with: "\"")
    let quoted = try Self.normalize("``a```", string)
    #expect(quoted.text == "\"a\"`")
    #expect(quoted.ranges == [1..<2, 2..<3, 4..<5, 5..<6])
  }

  @Test func edges() throws {
    #expect(try Self.normalize(" \u{3000}a b\n", EdgeStripper(left: true, right: true)).text == "a b")
    #expect(try Self.normalize(" a ", EdgeStripper(left: false, right: true)).ranges == [0..<1, 1..<2])
    #expect(try Self.normalize("   ", EdgeStripper(left: true, right: false)).text == "")
    let prepended = try Self.normalize("éa", Prepender("▁x"))
    #expect(prepended.text == "▁xéa")
    #expect(prepended.ranges == [0..<2, 0..<2, 0..<2, 2..<3])
    #expect(try Self.normalize("", Prepender("▁")).text == "")
    #expect(try Self.normalize("a\u{1}\tb\u{200B}▁", ControlNormalizer()).text == "a b  ")
  }
}
