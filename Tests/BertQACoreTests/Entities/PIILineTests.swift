import Testing

@testable import BertQACore

/// Personal data in emphasis, and numbers that a line break divides.
struct PIILineTests {
  private func found(_ text: String) throws -> [String] { try foundPII(text) }

  @Test(arguments: [
    ("Call me: +49 30\n901820.", "PHONE +49 30\n901820"),
    ("> Call me: +49 30\r\n> > 901820.", "PHONE +49 30\r\n> > 901820"),
    ("The office has (+1 212) 736\n\t5000 now", "PHONE (+1 212) 736\n\t5000"),
    ("Tel.: 030\n901820", "PHONE 030\n901820"),
    ("our account DE89 3704 0044\n0532 0130 00, thanks", "IBAN DE89 3704 0044\n0532 0130 00"),
    ("DE89\n3704 0044 0532 0130 00", "IBAN DE89\n3704 0044 0532 0130 00"),
    ("my card 4111 1111\n> 1111 1111 expires", "CARD 4111 1111\n> 1111 1111"),
    ("+44 20 7946\n0958", "PHONE +44 20 7946\n0958"),
  ])
  func numbersContinueOnTheNextLine(text: String, one: String) throws {
    #expect(try found(text) == [one])
  }

  @Test(arguments: [
    // Each line has its own.
    "+49 30 901820\n12 apples", "Ann,+49 30 901820\n1002,Bob,+49 30 901821", "Tel.: 030 901820\n10115 Berlin",
    // Tables of numbers, in which one sum of ten is right.
    "4111 1111\n1111 1111", "516E 4111 1111\n1111 1111 53CB", "x = +100\n3.14159",
    "my card 4111 1111\n\n1111 1111", "my card 4111 1111\n+ 1111 1111",
  ])
  func linesOfTheirOwn(text: String) throws {
    #expect(try found(text).allSatisfy { !$0.utf8.contains(UInt8(ascii: "\n")) })
  }

  /// The parts may be anywhere in lines that are longer than what is read of them.
  @Test func longLines() throws {
    let words = String(repeating: "word ", count: 100)
    #expect(try found("\(words)+49 30\n901820 \(words)") == ["PHONE +49 30\n901820"])
    let digits = String(repeating: "4111 ", count: 100)
    let table = try found("\(digits)\n\(digits)")
    #expect(table.allSatisfy { !$0.utf8.contains(UInt8(ascii: "\n")) })
  }

  @Test(arguments: [
    ("_+49 30 901820_", "PHONE +49 30 901820"), ("call _+49 30 901820_.", "PHONE +49 30 901820"),
    ("__192.168.17.4__", "IP 192.168.17.4"), ("___4111111111111111___", "CARD 4111111111111111"),
    ("_pay to DE89370400440532013000_", "IBAN DE89370400440532013000"),
    ("(_https://example.org/a_b_)", "URL https://example.org/a_b"),
    ("_ann@example.org_", "EMAIL ann@example.org"),
  ])
  func emphasisIsNoPartOfIt(text: String, one: String) throws {
    #expect(try found(text) == [one])
  }

  @Test(arguments: [
    ("user_4111111111111111_", []), ("_4111111111111111_x", []), ("x_192.168.17.4_", []),
    ("_ann@example.org", ["EMAIL _ann@example.org"]), ("_ 4111111111111111", ["CARD 4111111111111111"]),
  ])
  func underscoresOfNames(text: String, all: [String]) throws {
    #expect(try found(text) == all)
  }
}
