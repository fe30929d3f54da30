import Testing

@testable import BertQACore

/// What replaces entities, and how it is brought back.
struct RedactionTests {
  private static let text = "Ann: ann@x.org, 078-05-1120; Ann, [A_2]"

  private func entity(_ label: String, _ start: Int, _ end: Int) -> Entity {
    let range = TextRange(start: start, end: end)
    return Entity(label: label, bytes: range, codePoints: range, utf16: range, score: 1)
  }

  private var found: [Entity] {
    [entity("A", 0, 3), entity("EMAIL", 5, 14), entity("SSN", 16, 27), entity("A", 29, 32)]
  }

  @Test(arguments: [
    (0, "***: ***@*.***, ***-**-****; ***, [A_2]"), (1, "**n: ***@*.**g, ***-**-***0; **n, [A_2]"),
    // At most half of each: one of three letters, three of seven.
    (4, "**n: ***@*.org, ***-**-1120; **n, [A_2]"), (Int.max, "**n: ***@*.org, ***-**-1120; **n, [A_2]"),
  ])
  func masks(_ keep: Int, _ expected: String) throws {
    #expect(try EntityList.redact(Self.text, found, .mask(keep: keep)) == expected)
  }

  @Test func aMaskHasAStarForEachCharacter() throws {
    for (text, keep, expected) in [
      ("Jose\u{301}", 0, "****"), ("Jose\u{301}", 1, "***e\u{301}"), ("👩‍💻 a", 0, "* *"), ("", 3, ""),
      ("-. ", 9, "-. "),
      ("山田　太郎", 1, "**　*郎"),
    ] {
      let whole = [entity("A", 0, text.utf8.count)]
      #expect(try EntityList.redact(text, whole, .mask(keep: keep)) == expected, "\(text)")
    }
    #expect(failure { _ = try EntityList.redact("a", [], .mask(keep: -1)) }?.status == .invalidArgument)
  }

  @Test func pseudonymsAreNumberedByTheirFirstPlace() throws {
    let names = Pseudonyms()
    let redacted = try EntityList.redact(Self.text, found, .pseudonym(names))
    #expect(redacted == "[A_1]: [EMAIL_1], [SSN_1]; [A_1], [LITERAL_1]")
    // The last one is that of the text "[A_2]".
    #expect(
      names.entries().map(\.value) == ["Ann", "ann@x.org", "078-05-1120", "[A_2]"].map { Array($0.utf8) })
    #expect(try names.restore(redacted) == Self.text)
    #expect(
      try EntityList.redact("Bo, Ann", [entity("A", 0, 2), entity("B", 4, 7)], .pseudonym(names))
        == "[A_2], [B_1]")
    names.removeAll(from: 4)
    #expect(names.count == 4 && names.entries(from: 4).isEmpty)
    #expect(
      try EntityList.redact("Al, Ann", [entity("A", 0, 2), entity("A", 4, 7)], .pseudonym(names))
        == "[A_2], [A_1]")
  }

  @Test func namesOfEarlierRunsStay() throws {
    let names = Pseudonyms()
    try names.add(name: Array("[A_7]".utf8), value: Array("Ann".utf8))
    let redacted = try EntityList.redact(Self.text, found, .pseudonym(names))
    #expect(redacted == "[A_7]: [EMAIL_1], [SSN_1]; [A_7], [LITERAL_1]")
    #expect(failure { try names.add(name: Array("[A_7]".utf8), value: []) }?.status == .invalidArgument)
    for wrong in [
      "", "[]", "[A]", "A_1", "[A_1", "[A_0]", "[A_-1]", "[A[_1]", "[A_1000000000000000]",
      "[A_999999999999999]", "[A\u{1F}_1]",
    ] {
      #expect(failure { try names.add(name: Array(wrong.utf8), value: []) } != nil, "\(wrong)")
    }
    try names.add(name: Array("[A b_1]".utf8), value: Array("Bo".utf8))
    #expect(try names.restore("[A b_1]") == "Bo")
  }

  @Test func whatSurroundsNamesDoesNotMatter() throws {
    // Redacting makes "[A_[B_1]]", "[[B_1]", and so on.
    for (text, start, end) in [("[A_12]", 3, 5), ("[12]", 1, 3), ("[[12_1]", 2, 4), ("[A_1[12]]_1]", 5, 7)] {
      let names = Pseudonyms()
      let redacted = try EntityList.redact(text, [entity("B", start, end)], .pseudonym(names))
      #expect(!redacted.contains("12") && redacted != text, "\(redacted)")
      #expect(try names.restore(redacted) == text)
    }
  }

  @Test func keysAreNotShort() throws {
    #expect(failure { _ = try RedactionKey([UInt8](repeating: 1, count: 15)) }?.argument == "key")
    let key = try RedactionKey(Array("0123456789abcdef".utf8))
    let redacted = try EntityList.redact(Self.text, found, .hash(key))
    // Of Python's hmac.
    #expect(
      redacted.hasPrefix(
        "[A_993bf55a4da782513aed2f25784cb2b7]: [EMAIL_8777c9bd7d6398b1241c1f9e269344c9], [SSN_1ef0"))
  }

  @Test func listsOfPartsHaveAllPositions() throws {
    let text = "é山👩 b"
    let list = try withBytes(of: text) { bytes throws(BertQAError) in
      try EntityList(
        of: bytes,
        [
          ("B", TextRange(start: 5, end: 9), 0.5, nil), ("A", TextRange(start: 0, end: 11), 0.5, nil),
          ("C", TextRange(start: 2, end: 5), 0.5, nil),
        ])
    }
    #expect(list.entities.map(\.label) == ["A", "C", "B"] && list.entities[0].score == 0.5)
    #expect(
      list.entities.map(\.codePoints) == [
        TextRange(start: 0, end: 5), TextRange(start: 1, end: 2), TextRange(start: 2, end: 3),
      ])
    #expect(
      list.entities.map(\.utf16) == [
        TextRange(start: 0, end: 6), TextRange(start: 1, end: 2), TextRange(start: 2, end: 4),
      ])
  }
}
