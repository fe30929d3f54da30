import Testing

@testable import BertQACore

/// Texts that redaction never touches, and texts that it always replaces.
@Suite struct TextListsTests {
  private func redacted(_ text: String, allow: [String] = [], deny: [String] = []) throws -> String {
    let lists = try TextLists(allow: allow, deny: deny)
    let list = try withBytes(of: text) { bytes throws(BertQAError) in
      try EntityList(piiIn: bytes).applying(lists, in: bytes)
    }
    for (entity, next) in zip(list.entities, list.entities.dropFirst()) {
      #expect(entity.bytes.start <= next.bytes.start)
    }
    return try EntityList.redact(text, list.entities)
  }

  @Test(arguments: [
    ("info@acme.com, ann@acme.com", ["Info@Acme.com"], "info@acme.com, [EMAIL]"),
    ("Tel. +49 30 901820 or 030-901821", ["49 (30) 901820"], "Tel. +49 30 901820 or [PHONE]"),
    // An entity that is more than the allowed text is another value.
    ("info@acme.com", ["acme.com"], "[EMAIL]"), ("info@acme.com.de", ["info@acme.com"], "[EMAIL]"),
    // One within the allowed text is left.
    ("Ask info@acme.com now", ["ask info@acme.com"], "Ask info@acme.com now"),
    ("10.0.0.1 10.0.0.1", ["10.0.0.1"], "10.0.0.1 10.0.0.1"), ("a@b.de", [], "[EMAIL]"),
  ])
  func allowed(_ text: String, _ allow: [String], _ expected: String) throws {
    #expect(try redacted(text, allow: allow) == expected)
  }

  @Test(arguments: [
    ("Project FALCON, falcon's Falcons", ["Falcon"], "Project [DENIED], [DENIED]'s Falcons"),
    ("Blue  Falcon; blue-falcon", ["blue falcon", "blue"], "[DENIED]; [DENIED]"),
    ("王小明は", ["王小明"], "[DENIED]は"), ("Jose\u{301}", ["JOSE\u{301}"], "[DENIED]"),
    ("U\u{308}NAL GmbH, Ünal", ["ünal gmbh", "u\u{308}nal"], "[DENIED], [DENIED]"),
    ("\u{1100}\u{1161}\u{11A8}", ["각"], "[DENIED]"), ("ΠΆΝΟΣ", ["Πάνος"], "[DENIED]"),
    ("HAUPTSTRASSE 5, Hauptstraße", ["Hauptstraße"], "[DENIED] 5, [DENIED]"), ("Groß", ["GROSS"], "[DENIED]"),
    ("GROẞ", ["groß"], "[DENIED]"),
    ("An\u{AD}na S\u{2060}mi\u{200D}th\u{200E}.", ["Anna Smith"], "[DENIED]\u{200E}."),
    // Composed and decomposed letters have their marks in different orders; İ in lower case is i or i with a dot.
    ("\u{1E7}\u{325}a g\u{325}\u{30C}a", ["g\u{325}\u{30C}a"], "[DENIED] [DENIED]"),
    ("\u{622}\u{64E}\u{628} \u{627}\u{64E}\u{653}\u{628}", ["\u{622}\u{64E}\u{628}"], "[DENIED] [DENIED]"),
    ("İbrahim I\u{307}brahim i\u{307}brahim ibrahim", ["İBRAHİM"], "[DENIED] [DENIED] [DENIED] [DENIED]"),
    ("\u{E1} a\u{301} a a\u{300}", ["á"], "[DENIED] [DENIED] a a\u{300}"),
    ("mail falcon@b.de, a@b.de", ["falcon"], "mail [EMAIL], [EMAIL]"),
    ("a@b.de is Ann's", ["b.de is Ann"], "[EMAIL]'s"),
  ])
  func denied(_ text: String, _ deny: [String], _ expected: String) throws {
    #expect(try redacted(text, deny: deny) == expected)
    #expect(try redacted(text, allow: deny, deny: deny) == expected)
  }

  /// A word of any length counts as a whole, behind another one as well.
  @Test(arguments: [1, 254, 255, 256, 257, 100_000]) func longWords(count: Int) throws {
    let word = String(repeating: "b", count: count)
    for deny in [word, "a " + word, word + " a"] {
      #expect(try redacted("x \(deny), y", deny: [deny]) == "x [DENIED], y")
      #expect(try redacted("x \(deny)b y", deny: [deny]) == "x \(deny)b y")
    }
    #expect(try redacted("a \(word)b a \(word)", deny: ["a " + word]) == "a \(word)b [DENIED]")
  }

  @Test(arguments: [1, 8, 9]) func wordsOfAPhraseAreNear(spaces: Int) throws {
    let text = "blue\(String(repeating: " ", count: spaces))falcon"
    #expect(try redacted(text, deny: ["blue falcon"]) == (spaces <= 8 ? "[DENIED]" : text))
  }

  @Test func wrongLists() throws {
    for wrong in ["", "--", " \n", String(repeating: "a ", count: 17)] {
      #expect(failure { _ = try TextLists(allow: ["a", wrong]) }?.argument == "allow")
      // What is secret is not in the message.
      #expect(failure { _ = try TextLists(deny: [wrong]) }?.detail.contains("a a") == false)
    }
    let most = String(repeating: "a ", count: 16)
    #expect(try redacted(most + "a", deny: [most]) == "[DENIED] a")
  }
}
