import Testing

@testable import BertQACore

/// Telephone numbers: what is found without a region, with one, and what is not.
@Suite struct PhoneTests {
  private func found(_ text: String, _ regions: [String] = []) throws -> [String] {
    try foundPII(text, regions: regions)
  }

  /// Each is tested alone, in a sentence and in brackets.
  private func expect(_ texts: [String], _ regions: [String] = []) throws {
    for text in texts {
      let expected = ["PHONE \(text)"]
      for frame in [
        "\(text)", "see \(text) there", "see \(text), or", "it is \(text).", "\"\(text)\";\n", "日本\(text)。",
        "a\t\(text)\tb",
      ] {
        #expect(try found(frame, regions) == expected, "\(frame)")
      }
    }
  }

  private func expectNothing(_ texts: [String], _ regions: [String] = []) throws {
    for text in texts { #expect(try found(text, regions) == [], "\(text)") }
  }

  @Test func international() throws {
    try expect([
      "+1 212 555 1234", "+12125551234", "+1 (212) 555-1234", "+49 30 901820", "+49 (0)30 901820",
      "+33 1 23 45 67 89", "+86 138 1234 5678", "+44 20 7946 0958", "+49.30.901820", "+41-44-668-1800",
      "0049 30 901820", "0033 6 12 34 56 78", "0049 (0)30 901820", "00 33 6 12 34 56 78",
      "+90(321)565-8953x775",
      "(+49) 30 901820", "+49 030 901820", "+39 02 1234 5678", "+1-537-640-6812 ext. 4158",
      "+1 212 555 1234x99",
      "+43  2994  96975  070", "+881 612 345 678", "+49 (0)2203/12345", "+43(0)5512/2345",
      "0049(0)89/1234567",
      "0041 (0)44/668 18 00", "0049 221/1234567", "0043/512/123456", "011 44 20 7946 0958",
      "011-44-20-7946-0958",
    ])
    try expectNothing([
      "+1", "+12 34", "+0 12 345 678", "+1234567890123456", "x+12125551234", "5 + 1234567", "+100 000 000",
      "+1.234.567,89", "+1 500 000", "+1234567", "00123456789", "+2 000 000 000 000 000",
    ])
  }

  /// Groups of more digits than an integer has are read like others, by every rule.
  @Test func groupsOfAnyLength() throws {
    var options = PIIOptions()
    options.kinds = .known
    options.regions = ["DE"]
    for length in 1...26 {
      for (digit, separator) in ["0", "1", "9"].flatMap({ one in [" ", "-", ".", "/"].map { (one, $0) } }) {
        let long = String(repeating: digit, count: length)
        for groups in [[long], [long, "1", "2"], ["1", long, "2"], ["1", "2", long], [long, long]] {
          let text = Array("tel \(groups.joined(separator: separator)), born 5".utf8)
          try text.withElements { bytes throws(BertQAError) in
            for entity in try EntityList(piiIn: bytes, options: options).entities {
              #expect(entity.bytes.start >= 4 && entity.bytes.end <= bytes.count - 8, "\(groups)")
            }
            let finder = ExpressionFinder(text: TextBytes(bytes: bytes))
            for cut in bytes.indices.dropFirst() {
              let range = finder.extended(TextRange(start: cut, end: cut))
              #expect(range.start <= cut && range.end >= cut && range.end <= bytes.count, "\(groups)")
            }
          }
        }
      }
    }
  }

  /// Area codes and direct dial numbers in pairs from their ends, as in German letters (DIN 5008 until 2001).
  @Test func pairs() throws {
    try expect([
      "(0 22 03) 6 01-21 34", "(0 22 03) 6010", "(0 61 31) 16-0", "(0 22 1) 32168-0", "0 22 03 / 60 10",
      "0 61 31 / 16-0", "0 22 03/6 01 21", "0 22 03 - 601 2134", "(0 30) 2 27-3 25 01", "(0 30) 22 73-4 56",
      "(0 30) 22 27 - 0", "(+49 22 03) 6 01-21 34", "(0 53 32) 724 57", "(0 89) 321 68 App. 12",
    ])
    #expect(try found("(0 30) 22 27-0 10 Uhr") == ["PHONE (0 30) 22 27-0"])
    #expect(try found("(0 30) 2 27-12 1990") == ["PHONE (0 30) 2 27-12"])
    try expectNothing(["(0 22 03) 60", "(1 22 03) 60 10", "(0 222 03) 60 10", "(0 22 03 04) 60 10"])
  }

  /// A plus sign with a space behind it, and words for telephones without a space before the number.
  @Test func missingAndOtherSpaces() throws {
    try expect(["+ 49 30 901820", "(+ 49) 30 901820", "+ 49 (0) 30 901820", "+ 1 212 555 1234"])
    for number in ["030 901820", "+49 30 901820", "0301234567", "_0301234567", "+ 49 30 901820"] {
      let found = number.replacing("_", with: "")
      for word in ["Tel", "homePhone", "see mobile"] {
        #expect(try self.found(word + number) == ["PHONE \(found)"], "\(word + number)")
      }
    }
    try expectNothing([
      "5 + 49 30 901820", "x + 49 30 901820", "(a) + 49 30 901820", "+ 12 345 678", "+  49 30 901820",
      "Motel0301234567", "room030 901820", "x_0301234567", "Tel__0301234567", "HP9000/300", "cell 3\u{B7}10",
    ])
  }

  @Test func national() throws {
    try expect([
      "(212) 555-1234", "(212)555-1234", "212-555-1234", "212.555.1234", "212 555 1234", "1-212-555-1234",
      "030 9018203", "0171/1234567", "(030) 901820", "01 23 45 67 89", "01-23-45-67-89", "020 7946 0958",
      "0171 123 45 67", "0171 / 1234567", "0171 - 1234567", "06 1234567", "03-1234-5678", "063-519-9153",
      "02-212-3456",
      "08-622 006 28", "04-27098196", "8 (912) 345-67-89", "(06 1) 234 5678", "06-1/234 5678",
      "(06)27/222-1943",
      "(0-312) 34567", "538 594 685", "69 6599-1734", "0301234567", "07710465634", "(0662) 85548 207",
      "030  901820", "0800 123 4567", "8 029 491-19-11", "9752793834", "13752211693", "8-912-345-67-89",
      "(11) 9 8765-4321", "02)123-4567",
      "8 912 345 67 89", "8 912 345-67-89", "8 (912) 3456789", "8-700-123-4567",
    ])
    try expectNothing([
      "12345678", "2125551234", "112-555-1234", "2024-01-02", "01.02.2024", "01-02-2024", "01/02/2024",
      "01.02.2024 12:30", "12.345.678", "1,234,567", "2024-01-02 12:34:56", "212-555-12345", "212-555-1234-5",
      "a212-555-1234", "212-555-1234b", "3.14159 26535", "978-3-16-148410-0", "0-306-40615-2", "ISO 8601",
      "1 000 000", "10 000 000", "8 595 300 people", "384 400 km", "123-45-6789", "212/555/1234",
      "room 012 of 345", "0.123 4567 89", "(1811-1891)", "1407\u{2013}1410", "2014-15", "49576 - 56115",
      "48.858370, 2.294481", "1700000000", "1700000000000", "EUR 538 594 685", "538 594 685 €",
      "538 594 685,20",
      "Order 0301-234567", "order no. 212-555-1234", "ISBN 0306406152", "invoice 9752793834", "id=0301234567",
      "#0301234567", "20.12.34", "4111 1111 1111 1112",
    ])
  }

  /// Numbers of texts and logs that have a telephone number's groups.
  @Test func otherNumbers() throws {
    try expectNothing([
      // Times, dates and a date that stands for never.
      "Thu Feb 26 14:18:30 2015", "Date: Thu Feb 26 14:18:30 2015 -0800", "Updated Oct 30 2019",
      "until 9999-12-31",
      "since 1789-07-14",
      // Identifiers after a word for telephones.
      "call us about INV-2024-00123", "fix the callback (CVE-2026-68141)",
      // Status and size, ZIP codes, decimal fractions, rows.
      "\"GET /a.gif HTTP/1.0\" 200 2326 \"-\"", "Boston, MA 02110-1301, USA", "Boston,\n MA  02110-1301",
      "+48.858370", "+12.500000", "10  20  30  40  50", "20 21 22 23 24 25 26 27",
      "measured 120 130 140 150 160 mm",
      "847 858 870 882 894 906 918 930 942 954", "BLZ 370 400 44, Kto. 0532013000",
      "\"GET /a HTTP/1.1\" 200 1234567 \"-\"", "〒100-0001",
      // Months of a period, hours, numbers with a check digit.
      "01/2015 - 12/2019, 03/2020 - 11/2026", "06/2020-12/2021", "03.2015 - 09.2018", "012.345.678-90",
      "RG 0123 456-7", "q31 0 43-21 11-20", "no date before 01/01/0001",
      "0 0 400000", "matrix(0.123 12.34 0 0)", "CPF 01234567890",
    ])
    try expect(["+33.612345678", "+1.2125551234", "02110-13010"])
    #expect(try found("Tel.-030 901820") == ["PHONE 030 901820"])
  }

  /// Numbers in bibliographies, manuals, dumps of memory and sources.
  @Test func inTechnicalTexts() throws {
    try expectNothing([
      "Journal of X, 54(6), 421-440.", "54:2225–2276", "pp. 2225-2476", "vol. 3, 212-456", "987 - 1002",
      "pids 53482 53480", "5990  5991", "IEEE Std 754-2008",
      "0x2260 = 0010 0010 0110 0000", "the byte 1010 1001", "from \"0123456789\"",
      "at most 4294967295, 4294967294 or 8589934592",
      "a3 7b 5b 06 15 10 88 f4 af", "f8 40 1e 07 84 49 39 58 05 ee", "52 71 99 28 61 be 9a",
      "Boston, MA\n * 02111-1307, USA", "Boston, MA\n.\\\" 02111-1307", "Massachusetts 02111-1307",
      "(InfoClassCallCmd): [Bug 3387082]", "do_call 3387082", "GetCallContext 3387082",
    ])
    try expect(["421-640", "98765 43210", "2225-4276", "06 15 10 88 12"])
    for text in [
      "de ce 06 12 34 56 78 et", "Tel. 421-440", "callerNumber: 3387082", "call 3387082", "tel 1010 1001",
      "3b 06 12 34 56 78", "211-234", "219 0123",
    ] {
      #expect(try found(text).count == 1, "\(text)")
    }
  }

  /// A number ends where its country's lengths and groups do.
  @Test func besideOtherDigits() throws {
    for (text, expected) in [
      ("27.11.2026 030 901820 12:30", ["PHONE 030 901820"]), ("12,50 € 030 901820", ["PHONE 030 901820"]),
      ("Tel 06 12 34 56 78 75001 Paris", ["PHONE 06 12 34 56 78"]),
      ("Tel. 030 901820 9-17 Uhr", ["PHONE 030 901820"]),
      ("Tel. 030 901820 10-17 Uhr", ["PHONE 030 901820"]),
      ("0800 123 4567 24/7", ["PHONE 0800 123 4567"]),
      ("01 23 45 67 89 / 06 98 76 54 32", ["PHONE 01 23 45 67 89", "PHONE 06 98 76 54 32"]),
      ("01 23 45 67 89 06 98 76 54 32", ["PHONE 01 23 45 67 89", "PHONE 06 98 76 54 32"]),
      ("+33 6 12 34 56 78 06 98 76 54 32", ["PHONE +33 6 12 34 56 78", "PHONE 06 98 76 54 32"]),
      ("+33 6 12 34 56 78 4111 1111 1111 1111", ["PHONE +33 6 12 34 56 78", "CARD 4111 1111 1111 1111"]),
      ("+49 30 901820 4111111111111111", ["PHONE +49 30 901820", "CARD 4111111111111111"]),
      ("030-901820/030-901821", ["PHONE 030-901820", "PHONE 030-901821"]),
      ("030-901820/21", ["PHONE 030-901820/21"]), ("Port. : 06 12 34 56 78", ["PHONE 06 12 34 56 78"]),
      ("030 901820-17", ["PHONE 030 901820-17"]), ("0049 30 901820-17", ["PHONE 0049 30 901820-17"]),
      ("+86-10-12345678-802", ["PHONE +86-10-12345678-802"]),
      ("+33 6 12 34 56 78-2026-11-27", ["PHONE +33 6 12 34 56 78"]),
      ("+49 171 2345678 - 10 Uhr", ["PHONE +49 171 2345678"]),
      ("212-555-1234, 10 times", ["PHONE 212-555-1234"]),
      ("call +1 212 555 1234 (or 2 more)", ["PHONE +1 212 555 1234"]),
      ("12,212-555-1234,34", ["PHONE 212-555-1234"]),
      ("+49 2203 12345/02203 12346", ["PHONE +49 2203 12345", "PHONE 02203 12346"]),
      ("Tel.030-901820,Fax/030-901821", ["PHONE 030-901820", "PHONE 030-901821"]),
      ("+49 30 901820.info@acme.com", ["PHONE +49 30 901820.info@acme.com"]),
      ("+381 700 123456/16.198.88.150", ["PHONE +381 700 123456", "IP 16.198.88.150"]),
      ("041 2345678 - 94.149.170.60", ["PHONE 041 2345678", "IP 94.149.170.60"]),
      ("(246) 412-3456 – 46c8:625c::1", ["PHONE (246) 412-3456", "IP 46c8:625c::1"]),
      ("(020) 2012345 – 011 234 5678", ["PHONE (020) 2012345", "PHONE 011 234 5678"]),
      ("+212891234567/733 263 725", ["PHONE +212891234567", "PHONE 733 263 725"]),
      ("412-555-1234 (340) 642-1234", ["PHONE 412-555-1234", "PHONE (340) 642-1234"]),
      ("222 123 456,4111111111111111", ["PHONE 222 123 456", "CARD 4111111111111111"]),
    ] {
      #expect(try found(text) == expected, "\(text)")
    }
  }

  /// A hyphen and a direct dial number after an area code with another separator, often in pairs from the right.
  @Test func directDialNumbers() throws {
    try expect([
      "030 901820-0", "030 12345-67", "030 123 45-67", "(089) 123 45-0", "089/12345-0", "089 / 123 45-0",
      "089 / 123 45 - 0", "0 30 / 123 45 - 67", "(0 89) 1 23 45-0", "0 89/1 23 45 67", "(06 21) 1 23 45 67",
      "0 30/90 18 20", "01/123 45 67-0", "0621-12345-0", "+49 89 / 123 45 - 0", "0212 123 45 67-68",
    ])
    for (text, expected) in [
      ("Tel. 0911 / 2 31-0, Fax -99", ["PHONE 0911 / 2 31-0"]), ("Tel. 01/4277-0", ["PHONE 01/4277-0"]),
      ("电话 010-12345678-802", ["PHONE 010-12345678-802"]),
      ("030 12345-6 or Tel. 030 12345-6", ["PHONE 030 12345-6"]),
      ("0171 1234567 - 2 rooms", ["PHONE 0171 1234567"]),
      ("Tel: 912345678 / 612345678", ["PHONE 912345678", "PHONE 612345678"]),
    ] {
      #expect(try found(text) == expected, "\(text)")
    }
  }

  /// Last digits of other telephones after a slash, which are no dates, hours or fractions.
  @Test func otherLastDigits() throws {
    try expect([
      "212-555-1234/5678", "030 901820/21/22", "030-901820/-21", "(030) 901820 / 21 / 22", "030 901820/1/2",
      "212-555-1234/35/36", "01 23 45 67 89/90", "+1 212 555 1234/1235", "0800 123 4567/8",
      "+49 30 901820-21/-22", "022-12345678/12345679",
    ])
    for other in [
      "/24.12.2024", "/12.2024", "/2024", "/24/7", "/24-12-2024", " 24/7", "/Fax", "/a1", " / Fax",
    ] {
      #expect(try found("030 901820\(other)") == ["PHONE 030 901820"], "\(other)")
    }
  }

  @Test func afterAHouseNumber() throws {
    for (text, number) in [
      ("Hauptstr. 5 030 901820", "030 901820"), ("Marktplatz 3 0171 123 45 67", "0171 123 45 67"),
      ("Calle de la Luna 5 91 123 45 67", "91 123 45 67"), ("Via Roma 12 06 1234 5678", "06 1234 5678"),
      ("ул. Ленина 5 8 912 345 67 89", "8 912 345 67 89"), ("Apt 4 212-555-1234", "212-555-1234"),
      ("Hauptstr. 12a 030 901820", "030 901820"),
    ] {
      #expect(try found(text) == ["PHONE \(number)"], "\(text)")
    }
    try expectNothing(["account 5 030 901820", "Hauptstr. 5 5 030 901820"])
  }

  /// Parameters of `tel:` addresses (RFC 3966).
  @Test func parameters() throws {
    try expect(["+49-30-901820;ext=21", "+49-30-901820;isub=12345;ext=21", "+1.212.555.1234;postd=p22"])
    for (text, expected) in [
      ("tel:863-1234;phone-context=+1-914-555", ["PHONE 863-1234;phone-context=+1-914-555"]),
      ("<tel:7042;phone-context=example.com>", ["PHONE 7042;phone-context=example.com"]),
      ("sms:+15105550101,+15105550102?body=hi", ["PHONE +15105550101", "PHONE +15105550102"]),
      ("+49 30 901820;to=a", ["PHONE +49 30 901820"]),
    ] {
      #expect(try found(text) == expected, "\(text)")
    }
  }

  /// Accounts, business numbers and codes: a part of one is no telephone number.
  @Test func partsOfLongerNumbers() throws {
    try expectNothing([
      "SIRET 732 829 320 00074", "732 829 320 00074", "055 804 124 00035", "FR 40 303 265 045",
      "FR40 303 265 045",
      "51 824 753 556", "123 456 789 012 34", "112 233 445 95", "1 234 567 890", "11 222 333 0001 81",
      "2100 0418 45 0200051332", "21 00000 00003 13947 14300 09017", "6222 0212 0801 2345 678",
      "DE89 3704 0044 0532 0130 01", "61 1090 1014 0000 0712 1981 2874", "4 006381 333931",
      // With letters in a group beside it.
      "0123 4567 89AB", "89AB 0123 4567", "key 89ab 0123 4567 cdef", "0301-2345-67ab", "0301234567-A1",
      "22 12345 67890 123", "01 801 111 22 12345 67890 123", "SIREN 732 829 320", "ACN 004 085 617",
    ])
    for (text, expected) in [
      // Other numbers, dates and amounts beside a number are no part of it.
      ("538 594 685 601 123 456", ["PHONE 538 594 685", "PHONE 601 123 456"]),
      ("12:30 538 594 685 2024-01-02", ["PHONE 538 594 685"]), ("12  538 594 685  7", ["PHONE 538 594 685"]),
      ("01 23 45 67 89 75001 Paris", ["PHONE 01 23 45 67 89"]),
      ("030 901820 0171 1234567", ["PHONE 030 901820", "PHONE 0171 1234567"]),
      ("room 5 0171-1234567 2 4", ["PHONE 0171-1234567"]),
      ("0171 1234567 2nd floor, 0171 1234567 2B", ["PHONE 0171 1234567", "PHONE 0171 1234567"]),
      // A word names the number after it only.
      ("SIRET 732 829 320 00074, 01 23 45 67 89", ["PHONE 01 23 45 67 89"]),
    ] {
      #expect(try found(text) == expected, "\(text)")
    }
  }

  /// Words before a number decide where its form does not.
  @Test func inContext() throws {
    for word in [
      "Tel.", "Phone:", "call", "Teléfono", "téléphone :", "Fax", "тел.", "電話番号", "WhatsApp", "mobile no.",
      "Тел.:", "ТЕЛЕФОН", "Τηλ.", "ΤΗΛΕΦΩΝΟ", "TÉLÉPHONE :", "Te\u{301}l.", "RÜCKRUF", "手机：",
      "\"phoneNumber\":",
      "homePhone=", "TelNr", "мобильный телефон для связи:",
    ] {
      #expect(try found("\(word) 80991098").map { $0.hasSuffix("80991098") } == [true], "\(word)")
      #expect(try found("\(word) 2125551234").map { $0.hasSuffix("2125551234") } == [true], "\(word)")
    }
    try expectNothing([
      "phone 2024-01-02", "call order 80991098", "the hotel 80991098", "call 1 000 000",
      "callOrderId: 80991098",
    ])
  }

  /// A word for another number names one if nothing but such words as "no." is between.
  @Test func otherWords() throws {
    try expectNothing([
      "order number is 0301-234567", "Bestellnummer 0301-234567", "Bestell-Nr. 0301 234567",
      "Kundennr.: 0301 234567",
      "Klantnummer 0301 234567", "facture n° 01 23 45 67 89", "case id 0301234567",
      "total_memory: 0301234567",
      "IEEE standard 854-1987",
    ])
    for text in [
      "Call me any time: 0171 2345678", "In case of emergency 0171 2345678", "Direct line 0171 2345678",
      "Ticket office 0171 2345678", "If you have an issue, try 0171 2345678",
      "In order to reach me: 0171 2345678",
      "Rechnung an Bob, 0171 2345678", "meine Nummer ist 0171 2345678", "mijn nummer is 0171 2345678",
    ] {
      #expect(try found(text) == ["PHONE 0171 2345678"], "\(text)")
    }
    for word in ["Handy-Nr.", "Handynr.", "Mobilnummer", "Telefoonnummer", "Rufnummer"] {
      #expect(try found("\(word) 80991098") == ["PHONE 80991098"], "\(word)")
    }
  }

  /// Words before an extension, in the languages of the words before a number.
  @Test func extensions() throws {
    try expect(
      [
        "x99", " x 99", " ext. 99", ", Ext 99", ";ext=99", " (ext. 99)", " #99", " xtn 99", " Durchwahl 99",
        " DW 99",
        " poste 99", " доб. 99", " (доб. 99)", " ДОБ 99", " wew. 99", "转99", " 内線99", " 내선 99", " dahili 99",
        " εσωτ. 99", " שלוחה 99", " داخلی 99", ",,99#", ",,86454211234#,,,,*123456#",
      ].map { "+49 30 901820\($0)" })
    for other in [" (99)", " pin 99", " or 99", " (ext. 99", ",,99"] {
      #expect(try found("+49 30 901820\(other)") == ["PHONE +49 30 901820"], "\(other)")
    }
  }

  @Test func withRegions() throws {
    try expect(["80991098", "80 99 10 98", "8099 1098"], ["DK"])
    try expect(["350918758", "3511070927", "043268531"], ["IT"])
    try expect(["2394969750", "8432360387", "04048096115"], ["DE", "in"])
    try expect(["62889"], ["AC"])
    try expectNothing(["62889", "80991098"], ["DE", "FR"])
    try expectNothing(["2024-01-02", "1.2.3", "12345", "8 595 300 people"], ["DE", "US", "DK"])
    #expect(failure { _ = try found("", ["XX"]) }?.argument == "regions")
    #expect(failure { _ = try found("", ["ZZ"]) }?.argument == "regions")
    #expect(failure { _ = try found("", ["Germany"]) }?.argument == "regions")
  }

  /// Spaces, hyphens and digits as typography and other scripts write them, and characters without width.
  @Test func typography() throws {
    for space in ["\u{A0}", "\u{2007}", "\u{2009}", "\u{202F}", "\u{3000}"] {
      try expect(["+49\(space)30\(space)901820", "01\(space)23\(space)45\(space)67\(space)89"])
    }
    for dash in [
      "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2015}", "\u{2212}", "\u{FF0D}",
      "\u{B7}",
      "\u{2022}",
    ] {
      try expect(["212\(dash)555\(dash)1234"])
    }
    try expect([
      "٠٦ ١٢ ٣٤ ٥٦ ٧٨", "０３０ ９０１８２０", "०३० ९०१८२०", "+49\u{200B}30\u{2060}901820", "030\u{AD}-901820",
    ])
    for (text, label) in [
      ("4111\u{2011}1111\u{2011}1111\u{2011}1111", "CARD"), ("４１１１１１１１１１１１１１１１", "CARD"),
      ("4111\u{200B}111111111111", "CARD"), ("DE89\u{A0}3704\u{A0}0044\u{A0}0532\u{A0}0130\u{A0}00", "IBAN"),
      ("ＤＥ８９３７０４００４４０５３２０１３０００", "IBAN"), ("joe＠example．com", "EMAIL"),
      ("jo\u{AD}e@exam\u{200B}ple.com", "EMAIL"),
      ("jean\u{2011}luc@example.fr", "EMAIL"), ("192.168\u{200B}.1.5", "IP"),
    ] {
      #expect(try found("see \(text), or") == ["\(label) \(text)"], "\(text)")
    }
  }
}
