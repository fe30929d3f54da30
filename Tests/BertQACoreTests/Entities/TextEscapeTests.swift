import Testing

@testable import BertQACore

/// Personal data beside and within escapes of URLs, HTML and JSON, and within words in brackets.
@Suite struct TextEscapeTests {
  private func found(_ text: String) throws -> [String] { try foundPII(text) }

  @Test(arguments: [
    ("EMAIL", "ann%40example.org"), ("EMAIL", "ann&#64;example.org"), ("EMAIL", "ann&#x40;example.org"),
    ("EMAIL", "&#97;&#110;n&#064;example.o&#114;&#103;"), ("EMAIL", "ann&commat;example&period;org"),
    ("EMAIL", #"ann\u0040example.org"#), ("EMAIL", "ann(at)example.org"),
    ("EMAIL", "ann [AT] example [DOT] org"),
    ("EMAIL", "ann {at} example.org"), ("EMAIL", "ann( at )example(punkt)org"),
    ("EMAIL", "ann[@]example[.]org"),
    ("EMAIL", "ann (ät) example.org"), ("EMAIL", "ann (arroba) example (punto) org"),
    ("PHONE", "%2B49 30 901820"), ("PHONE", "%2B49%2030%20901820"), ("CARD", "4111%201111%201111%201111"),
    ("PHONE", "&#43;49&nbsp;30&#160;901820"), ("PHONE", #"\u002b49 30 901820"#),
    ("PHONE", "030&thinsp;901820&ndash;17"), ("PHONE", #"030\u2011901820"#), ("PHONE", "030&shy;901820"),
    ("CARD", "4111&nbsp;1111&nbsp;1111&nbsp;1111"),
    ("IBAN", "DE89&nbsp;3704&nbsp;0044&nbsp;0532&nbsp;0130&nbsp;00"),
    ("IP", "10[.]0[.]0[.]17"), ("URL", #"https:\/\/example.org\/a?b=1\u0026c=2"#),
    ("URL", "https://example[.]org/a&#47;b"),
  ])
  func within(_ label: String, _ text: String) throws {
    for (before, behind) in [
      ("", ""), ("see ", " there"), ("\"", "\""), (#"a\n"#, #"\n"#), (#"\t"#, #"\r\nb"#), ("&lt;", "&gt;"),
      (#"\u003c"#, #"\u003e"#), ("&quot;", "&quot;"), ("x&nbsp;", "&nbsp;y"),
    ] {
      #expect(try found(before + text + behind) == ["\(label) \(text)"], "\(before + text + behind)")
    }
  }

  @Test func inURLs() throws {
    let body = "name=Ann&tel=030%20901820%0Amail%3Dann%40example.org"
    #expect(try found(body) == ["PHONE 030%20901820", "EMAIL ann%40example.org"])
    for url in ["https://example.org/?\(body)", "www.example.org/?\(body)"] {
      #expect(try found("\(url) there") == ["URL \(url)"])
    }
    #expect(try found("see /u?\(body)") == ["PHONE 030%20901820", "EMAIL ann%40example.org"])
  }

  @Test func twoBesideEachOther() throws {
    #expect(
      try found(#"{"body":"Hi\nann@example.org\t030 901820\n4111111111111111"}"#) == [
        "EMAIL ann@example.org", "PHONE 030 901820", "CARD 4111111111111111",
      ])
    #expect(try found("a(at)b.de, c (at) d.de") == ["EMAIL a(at)b.de", "EMAIL c (at) d.de"])
  }

  @Test(arguments: [
    "come (at) noon", "(at) example.org", "ann (at)", "ann (at example.org", "ann (atx) example.org",
    "ann &#64 x.org",
    "ann&#x;example.org", "ann&#1114112;example.org", #"ann\u40example.org"#, #"ann\ud83dexample.org"#,
    "ann&#0;example.org", "ann&#99999999999999999999;example.org", "f(.)g", "a [dot] b",
  ])
  func isNoAddress(_ text: String) throws {
    #expect(try found(text) == [])
  }
}
