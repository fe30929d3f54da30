import Testing

@testable import BertQACore

/// Numbers of national registers, and the kinds that are not among all.
@Suite struct IdentifierTests {
  private func found(_ text: String, _ kinds: PIIKinds) throws -> [String] { try foundPII(text, kinds) }

  /// Each is found alone and in a sentence; with another last character, or a longer one, it is not.
  private func expect(_ label: String, _ kind: PIIKinds, _ texts: [String], isChecked: Bool = true) throws {
    for text in texts {
      for frame in ["\(text)", "see \(text), or", "it is (\(text)).", "日本\(text)。"] {
        #expect(try found(frame, kind) == ["\(label) \(text)"], "\(frame)")
      }
      #expect(try found("x\(text)", kind).isEmpty, "x\(text)")
      #expect(try found("\(text)7", kind).isEmpty, "\(text)7")
      guard isChecked, let last = text.unicodeScalars.last else { continue }
      let other = last == "1" ? "2" : last == "B" ? "C" : last.properties.isAlphabetic ? "B" : "1"
      #expect(try found("\(text.dropLast())\(other)", kind).isEmpty, "\(text.dropLast())\(other)")
    }
  }

  private func expectNothing(_ kind: PIIKinds, _ texts: [String]) throws {
    for text in texts { #expect(try found(text, kind) == [], "\(text)") }
  }

  @Test func registers() throws {
    try expect("US_SSN", .us, ["143-69-1724", "143 69 1724"], isChecked: false)
    try expect("US_ITIN", .us, ["913-77-3661"], isChecked: false)
    try expectNothing(
      .us, ["000-12-3456", "666-12-3456", "900-12-3456", "123-00-4567", "123-45-0000", "143691724"])
    #expect(try found("SSN: 143691724", .us) == ["US_SSN 143691724"])
    try expect("UK_NHS", .uk, ["943 476 5919", "9434765919", "943-476-5919"])
    try expect("UK_NINO", .uk, ["AB 12 34 56 C", "AB123456C", "ab 123456 c"], isChecked: false)
    try expectNothing(.uk, ["BG123456C", "AB123456E", "DA123456C", "AO123456C"])
    try expect("DE_TAX_ID", .eu, ["86 095 742 719", "86095742719", "65929970489"])
    // Of Corsica, 2A counts as 19 and 2B as 18.
    try expect(
      "FR_NIR", .eu,
      ["2 55 08 14 168 025 38", "255081416802538", "1 84 12 2A 123 456 97", "2 84 03 2B 456 789 83"])
    try expect("ES_DNI", .eu, ["94703629W", "68565014-J", "Z8918682T", "X-5766949-K"])
    try expect("IT_CF", .eu, ["MTLLRT91H04A499K", "FLCFBZ84M25I304J"])
    try expect("NL_BSN", .eu, ["216375988", "5614.92.785"])
    try expect("PL_PESEL", .eu, ["64102494552", "21261715379"])
    try expect("BR_CPF", .brazil, ["106.803.973-61", "70417239416"])
    try expectNothing(.brazil, ["111.111.111-11", "00000000000000"])
    // The first of two check digits is wrong, and the second is right.
    try expectNothing(.brazil, ["10680397370", "70417239424", "17662609000137", "79864747000156"])
    try expect("BR_CNPJ", .brazil, ["17.662.609/0001-29", "79864747000148"])
    try expect("IN_AADHAAR", .india, ["9999 4105 7058", "999971658847", "9999-3311-9405"])
    try expect("IN_PAN", .india, ["NWKPK0029R"], isChecked: false)
    try expect("AU_TFN", .australia, ["123 456 782"])
    try expect("AU_MEDICARE", .australia, ["2123 45670 1"], isChecked: false)
    try expectNothing(.australia, ["2123 45671 1", "1123 45670 1"])
  }

  /// Numbers with the right check digits at the edges of what is issued, and beyond them.
  @Test func boundsOfRegisters() throws {
    for (kind, issued, others) in [
      (.usSSN, ["001-01-0001", "665-12-3456", "667-12-3456", "899-12-3456"], []),
      (
        .usITIN, [50, 65, 70, 88, 90, 92, 94, 99].map { "913-\($0)-3661" },
        [49, 66, 69, 89, 93].map { "913-\($0)-3661" }
      ),
      (.ukNHS, [], ["000 000 0000"]),
      // One of the first ten digits is there twice or three times.
      (.deTaxID, ["11123456786"], ["01234567812", "11112345678", "11234556783", "12345678903"]),
      (
        .frNIR,
        ["255201416802536", "255421416802597", "255501416802531", "255991416802539", "855081416802529"],
        [
          "255001416802507", "255131416802521", "255191416802520", "255431416802516", "255491416802515",
          "055081416802541", "555081416802582", "955081416802576", "184123A12345621",
        ]
      ),
      (.nlBSN, ["010000008"], ["009999991", "001234560"]),
      (
        .plPESEL, ["64123194552", "64923194556"],
        ["64002494559", "64133194553", "64100094556", "64103294557"]
      ),
      (.inAadhaar, ["299941057053"], ["099941057059", "199941057055"]),
      (.inPAN, ["NWKTK0001R"], ["NWKDK0029R", "NWKPK0000R"]), (.auTFN, [], ["000 000 000"]),
    ] as [(PIIKinds, [String], [String])] {
      for text in issued { #expect(try found(text, kind).count == 1, "\(text)") }
      try expectNothing(kind, others)
    }
  }

  /// A part of a longer number is none, unless a word says so.
  @Test func partsOfLongerNumbers() throws {
    try expectNothing(
      .identifiers, ["443 061 841 00047", "51 123 456 782", "192.168.001.001", "100 000 001 46"])
    #expect(try found("NHS 943 476 5919 12", .uk) == ["UK_NHS 943 476 5919"])
    #expect(try found("943 476 5919 01/02/1980", .uk) == ["UK_NHS 943 476 5919"])
  }

  @Test func cryptoAddresses() throws {
    try expect(
      "CRYPTO", .all,
      [
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      ])
    #expect(try found("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", .all).count == 1)
    try expectNothing(
      .crypto, ["0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aaeb6053f", "bc1", "1A1zP1"])
  }

  @Test func devicesPlacesAndDates() throws {
    try expect("MAC", .mac, ["00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E", "001a.2b3c.4d5e"], isChecked: false)
    try expectNothing(.mac, ["00:1a:2b:3c:4d", "00:1a:2b:3c:4d:5e:6f", "00:1a-2b:3c:4d:5e", "12:30:45"])
    for text in ["48.8584, 2.2945", "-33.8568 151.2153", "48.8584° N, 2.2945° E", "48.8584,2.2945"] {
      #expect(try found("at (\(text))", .coordinates) == ["COORDINATES \(text)"], "\(text)")
    }
    try expectNothing(
      .coordinates, ["48.85, 2.29", "98.8584, 2.2945", "1.2345 and 2.3456", "48.8584, 200.2945"])
    for date in [
      "12.03.1980", "1980-03-12", "12/03/80", "March 12, 1980", "12 mars 1980", "12 de marzo 1980",
      "12. März 1980", "March 12th, 1980", "1er mars 1980", "1980年3月12日", "1980년 3월 12일",
      "12th of March 1980", "19800312", "12-MAR-80", "12. Mrz. 80",
    ] {
      #expect(try found("Ann was born on \(date) in", .birthDate) == ["BIRTH_DATE \(date)"], "\(date)")
      #expect(try found("Geb.: \(date)", .birthDate) == ["BIRTH_DATE \(date)"], "\(date)")
      #expect(try found("released on \(date)", .birthDate).isEmpty, "\(date)")
    }
    for word in [
      "NÉ LE", "Ne\u{301}e le", "FÖDD", "Дата рождения:", "Родился", "生年月日：", "birth_date =",
      "\"dateOfBirth\":", "D.O.B.:", "d.o.b", "BDAY:",
    ] {
      #expect(try found("\(word) 12.03.1980", .birthDate) == ["BIRTH_DATE 12.03.1980"], "\(word)")
    }
    #expect(try found("birthDate:1980-03-12T00:00:00Z", .birthDate) == ["BIRTH_DATE 1980-03-12"])
    #expect(try found("née 12.03.1980, narozen 12. 3. 1985", .birthDate).last == "BIRTH_DATE 12. 3. 1985")
    #expect(try found("user_ssn=143691724, userSSN: 143691725", .usSSN).count == 2)
    try expectNothing(
      .birthDate,
      [
        "born 12.03", "born in 1980", "dob 99.99.1980", "born 1.2.3.4", "born 19801332", "born May 12, 10 of",
        "born 12 May 10",
        "D.O.C. 12.03.1980", "AD.O.B. 12.03.1980",
      ])
  }

  @Test func digests() {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    #expect(
      hex(SHA256.hash(Array("abc".utf8)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      hex(SHA256.hash([UInt8](repeating: 97, count: 64)))
        == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb")
    // Of NIST: messages of any length, in pieces of any length.
    #expect(
      hex(SHA256.hash(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    var million = SHA256()
    let letters = [UInt8](repeating: 97, count: 999)
    for _ in 0..<1001 { letters.withUnsafeBufferPointer { million.update($0) } }
    [97].withUnsafeBufferPointer { million.update($0) }
    #expect(hex(million.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    #expect(hex(Keccak256.hash([])) == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
  }

  /// The test cases 1 to 4 and 6 of RFC 4231.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      Array(1...25), [UInt8](repeating: 0xCD, count: 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131),
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func keyedHashes(_ key: [UInt8], _ message: [UInt8], _ expected: String) {
    var code = HMAC(key: key)
    message.withUnsafeBufferPointer { code.update($0) }
    let digits = code.finish().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    #expect(digits == expected)
  }
}
