import Testing

@testable import BertQACore

/// Why rules find what they find, and the checks that callers' rules share with them.
@Suite struct PIIEvidenceTests {
  /// Returns the score, the check and the word of what is found in a text.
  private func evidence(_ text: String) throws -> [String] {
    var options = PIIOptions()
    options.kinds = .known
    return try EntityList(piiIn: text, options: options).entities.map {
      let reason = try #require($0.reason)
      #expect(reason.rule == $0.label.lowercased())
      return "\(reason.rule) \($0.score) \(reason.checksum ?? "-") \(reason.context?.text(in: text) ?? "-")"
    }
  }

  @Test(arguments: [
    ("a@b.de", "email 1.0 - -"), ("https://b.de", "url 1.0 - -"), ("10.0.0.1", "ip 1.0 - -"),
    ("4111 1111 1111 1111", "card 1.0 luhn -"), ("DE89370400440532013000", "iban 1.0 mod97 -"),
    ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "crypto 1.0 crypto -"),
    ("0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae", "crypto 1.0 - -"),
    ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "crypto 1.0 crypto -"),
    ("+49 30 901820", "phone 1.0 - -"), ("0049 30 901820", "phone 1.0 - -"),
    ("(+49) 30 901820", "phone 1.0 - -"),
    ("212-555-1234", "phone 0.5 - -"), ("Tél.\u{A0}: 030\u{202F}901820", "phone 1.0 - Tél"),
    ("電話 03-1234-5678", "phone 1.0 - 電話"), ("00:1a:2b:3c:4d:5e", "mac 1.0 - -"),
    ("48.8584, 2.2945", "coordinates 0.5 - -"), ("born on 12.03.1980", "birth_date 1.0 - born"),
    ("078-05-1120", "us_ssn 0.5 - -"), ("SSN: 078051120", "us_ssn 1.0 - SSN"),
    ("943 476 5919", "uk_nhs 0.8 uk_nhs -"), ("NHS no. 943\u{2011}476\u{2011}5919", "uk_nhs 1.0 uk_nhs NHS"),
    ("2341 2341 2346", "in_aadhaar 0.8 verhoeff -"), ("PAN AFZPK7190K", "in_pan 1.0 - PAN"),
  ])
  func whatSpeaksForIt(_ text: String, _ expected: String) throws {
    #expect(try evidence(text) == [expected])
  }

  private func accepts(_ name: String, _ text: String) throws -> Bool {
    let checksum = try Checksum(named: name)
    return try withBytes(of: text) { bytes throws(BertQAError) in try checksum.accepts(bytes) }
  }

  @Test(arguments: [
    ("luhn", "7992 7398 713", "79927398710"), ("luhn", "７９９２７３９８７１３", "7992739871a"),
    ("mod97", "5493 0084UKLVMY22DS16", "549300B4UKLVMY22DS16"), ("verhoeff", "2363", "2364"),
    ("iban", "GB82 WEST 1234 5698 7654 32", "GB82WEST1234569876543"),
    ("uk_nhs", "943-476-5919", "9434765918"),
    ("es_dni", "x1234567l", "12345678A"), ("it_cf", "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
    ("crypto", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"),
    ("luhn", "00", "0"), ("mod97", "98", ""), ("luhn", "18", "18" + String(repeating: " ", count: 1023)),
  ])
  func checks(_ name: String, _ right: String, _ wrong: String) throws {
    #expect(try accepts(name, right))
    #expect(try !accepts(name, wrong))
  }

  @Test func allNamesAreKnown() throws {
    for name in Checksum.names { #expect(try !accepts(name, "")) }
    #expect(Checksum.names.contains("br_cnpj") && !Checksum.names.contains("us_ssn"))
    #expect(failure { _ = try Checksum(named: "us_ssn") }?.argument == "checksum")
  }
}
