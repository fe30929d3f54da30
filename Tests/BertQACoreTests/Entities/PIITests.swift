import Testing

@testable import BertQACore

@Suite struct PIITests {
  private func found(_ text: String, _ kinds: PIIKinds = .all) throws -> [String] {
    try foundPII(text, kinds)
  }

  /// Each is tested alone, in a sentence and in brackets.
  private func expect(_ label: String, _ texts: [String]) throws {
    for text in texts {
      let expected = ["\(label) \(text)"]
      for frame in [
        "\(text)", "see \(text) there", "see \(text), or", "it is \(text).", "(\(text))", "\"\(text)\";\n",
        "日本\(text)。",
      ] {
        #expect(try found(frame) == expected, "\(frame)")
      }
    }
  }

  private func expectNothing(_ texts: [String]) throws {
    for text in texts { #expect(try found(text) == [], "\(text)") }
  }

  @Test func emailAddresses() throws {
    try expect(
      "EMAIL",
      [
        "a@b.de", "john.doe@example.com", "john.doe+tag@mail.example.co.uk", "o'brien@example.ie",
        "first_last-1%2@sub-domain.example.museum", "müller@straße.example", "иван@пример.рф",
        "x@xn--80ak6aa92e.com", "x@mail.xn--p1ai", "1@2.com", "a..b@docomo.ne.jp", "taro.@docomo.ne.jp",
        "john&jane@example.com", "user#1@example.com", "x!y~z^$@example.com",
        "bounce+ann=example.org@list.example", "ann%40example.org", "ann﹫example.org",
        String(repeating: "a", count: 128) + "@example.com", "ann@[192.0.2.1]", "ann@[IPv6:2001:db8::1]",
        // Addresses that hold another one.
        "prvs=12ab=ann@example.com", "prvs=ann/12ab@example.com", "btv1==12ab=ann@example.com",
        "SRS0=Ab+/=TT=example.org=ann@example.com", "SRS1=A=fwd.example==B=TT=example.org=ann@example.com",
        "list-return-7-ann=example.org@list.example",
      ])
    #expect(
      try found("to=<a=b/c@b.de>, x=a@b.de, c/a@b.de") == [
        "EMAIL a=b/c@b.de", "EMAIL a@b.de", "EMAIL a@b.de",
      ])
    #expect(try found("return-path=a.b@c.de") == ["EMAIL a.b@c.de"])
    #expect(try found("mailfrom=bounce-7-a=b.de@c.org") == ["EMAIL bounce-7-a=b.de@c.org"])
    #expect(try found("<a@b.de>,c@d.org") == ["EMAIL a@b.de", "EMAIL c@d.org"])
    #expect(try found("'a@b.de'") == ["EMAIL a@b.de"])
    #expect(try found("..a@b.de..") == ["EMAIL a@b.de"])
    #expect(try found("a@b.de-") == ["EMAIL a@b.de"])
    #expect(try found("john@example.com-2024") == ["EMAIL john@example.com"])
    #expect(try found("john@example.com2024") == ["EMAIL john@example.com"])
    #expect(try found("and so...a@b.de") == ["EMAIL a@b.de"])
    #expect(try found("?to=a@b.de&cc=c@d.org") == ["EMAIL a@b.de", "EMAIL c@d.org"])
    #expect(try found("a@b.de\u{2014}c@d.org") == ["EMAIL a@b.de", "EMAIL c@d.org"])
    #expect(
      try found("GET /u?mail=ann%40example.org&tel=%2B4930901820&share=20%40") == [
        "EMAIL ann%40example.org", "PHONE %2B4930901820",
      ])
    // The domain is one, although units of systemd end like it.
    #expect(try found("mail bob@shop.target") == ["EMAIL bob@shop.target"])
    // A number in it is part of it.
    #expect(try found("10.0.0.1@example.com") == ["EMAIL 10.0.0.1@example.com"])
    #expect(try found("at 212-555-1234@example.com") == ["EMAIL 212-555-1234@example.com"])
    try expectNothing([
      "@", "a@", "@b.de", "a@b", "a @b.de", "a@b..de", "a@-b.de", "a@b.c", "a@b.123",
      "me@localhost", "icon@2x.png", "user@1000.service", "x@y.timer", "logo@1.5x.webp", "vue@3.2.1",
      "x@3.js",
      "@user and @other.name", String(repeating: "a", count: 129) + "@example.com",
      "a@" + String(repeating: "b", count: 64) + ".com",
    ])
  }

  @Test func webAddresses() throws {
    try expect(
      "URL",
      [
        "http://example.com", "https://example.com/a/b?c=d&e=f#g", "HTTPS://Example.COM/", "ftp://host/file",
        "http://localhost:8080/x", "http://user:pass@example.com/", "http://10.0.0.1:80/a", "http://[::1]/a",
        "www.example.com", "www.example.co.uk:8080/path", "www.example.com?x=1",
        "https://en.wikipedia.org/wiki/Fox_(animal)", "https://example.com/straße", "http://a/~b/*c*d",
        "https://x.example/用户/alice?token=1", "http://用户.example/a", "https://x.example/a|b{c}^d",
        "http://a.de/b中文",
        // Any scheme.
        "xhttp://a.de", "postgres://ann:pw@host:5432/db", "redis://:pw@host:6379/0", "file:///home/ann/a.txt",
        "mongodb+srv://ann:p%40w@c0.example.net/db?w=majority", "jdbc:oracle:thin:ann/pw@//host:1521/svc",
        "rtsp://admin:12345@192.168.1.64:554/a", "smb://DOMAIN;ann:pw@host/share", "s3://b/ann@b.de/a.txt",
        "sip:ann:pw@b.de:5060;transport=tcp", "SIPS:ann@b.de",
        "sip:+4930901820@b.de;user=phone", "sip:1001@10.0.0.1:5060",
        #"https:\/\/b.de\/u\/ann%40c.de"#,
        // A path on another machine.
        "git@example.org:org/repo.git", "ann@host.example.org:/home/ann/x", "ann@host.example.org:~ann/x",
      ])
    #expect(try found("see https://example.com/a.b!?") == ["URL https://example.com/a.b"])
    #expect(try found("(https://example.com/a(b))") == ["URL https://example.com/a(b)"])
    #expect(
      try found("[![x](http://a.de/b)](http://a.de/c) [http://a.de](http://a.de)") == [
        "URL http://a.de/b", "URL http://a.de/c", "URL http://a.de", "URL http://a.de",
      ])
    #expect(
      try found("{http://a.de/b} http://a.de/c\u{201D} http://a.de/d，中文") == [
        "URL http://a.de/b", "URL http://a.de/c", "URL http://a.de/d",
      ])
    #expect(try found("http://a.de/x@b.de") == ["URL http://a.de/x@b.de"])
    try expectNothing([
      "http://", "http:// a", "http:/a", "http://...", "www.", "www.a", "www..de", "example.com", "//a.de",
      "a:b", "std::vector", "mailto:", "C://a", "{x}://a", "TODO:check",
    ])
    // An address without a path, and a number as people write it.
    #expect(try found("ann@b.de:5432 ann@b.de:see") == ["EMAIL ann@b.de", "EMAIL ann@b.de"])
    #expect(try found("tel:030 901820, SIP:+49 30 901820") == ["PHONE 030 901820", "PHONE +49 30 901820"])
    #expect(try found("url:https://a.de <mailto:a@b.de?subject=x>") == ["URL https://a.de", "EMAIL a@b.de"])
  }

  @Test func internetAddresses() throws {
    try expect(
      "IP",
      [
        "0.0.0.0", "192.168.1.1", "255.255.255.255", "1.2.3.4", "::1", "fe80::1", "2001:db8::",
        "::ffff:192.0.2.1",
        "2001:0db8:0000:0000:0000:ff00:0042:8329", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4",
        "64:ff9b::192.0.2.33",
        "2001:DB8::A", "a:b:c:d:e:f:a:b", "10.0.0.1:80", "fe80::1%eth0", "[::1]:80", "[fe80::1%en-0.1]:65535",
      ])
    #expect(
      try found("addr:192.168.1.5 IP:10.0.0.1 x=10.0.0.2;/10.0.0.3/ ...10.0.0.4... 10.0.0.0/8") == [
        "IP 192.168.1.5", "IP 10.0.0.1", "IP 10.0.0.2", "IP 10.0.0.3", "IP 10.0.0.4", "IP 10.0.0.0",
      ])
    #expect(
      try found("64 bytes from 2a00:1450::200e: icmp, [::1] and ssh -L 80:10.0.0.1:8080") == [
        "IP 2a00:1450::200e", "IP ::1", "IP 10.0.0.1:8080",
      ])
    try expectNothing([
      "256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.04", "v1.2.3.4", "1.2.3.4a", "1.2.3.4.a",
      "1..2.3.4",
      "::", "a::b", "std::vector", "A::B::C", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::1", "1::2::3",
      ":::1",
      "12:34", "12:34:56", "00:1a:2b:3c:4d:5e", "1:2:3:4:5:6:7:256.1.1.1", "fe80::1g", "x::1", "face::feed",
      "step 1:: do", "case 12::", "port 6379::\n\n  x", "Up to 4096::",
    ])
  }

  @Test func versionsAreNoAddresses() throws {
    try expectNothing([
      "Version 1.2.6.3", "v 1.2.6.3", "upgrade to 8.8.4.1", "Changes since 5.2.4.3:", "release (6.0.3.1)",
      "## 6.0.3.1 (May 18, 2020)", "5.2.4.3 (2020-05-18)", "5.2.4.3 - 2020-05-18\n", "= 1.2.6.3 =", "0.9.8.1",
      "1.2.6.3-rc1",
      "1.2.6.3+build",
      "Version 1.2.6.3 is out.\n1.2.6.2 had a fault, so had 1.2.6.1.", "firmware: 10.2.1.7",
      "libfoo 4.0.13.1-beta", "Section 4.1.2.3", "clause 3.1.2.6", "§ 4.1.2.3", "OID 2.5.29.14",
      "Chrome/120.0.0.0 Safari/537.36", "route 120.0.0.0/8",
    ])
    // Versions that packages have or must have.
    try expectNothing([
      "foo (>= 4.0.13.1)", "foo (<= 1.2.6.3-1)", "foo-bar>=5.2.4.3", "pkg==1.2.3.4", "foo2 (~> 1.2.3.4)",
      "foo ~> 1.2.3.4", "      actionpack (= 7.0.8.4)\n", "libfoo (<< 2.3.4.5)", "baz (= 1.2.3.4-1)",
      "Depends: libc6, libfoo (= 2.3.4.5) | bar", "bar (>= 2.3), libfoo (>> 2.3.4.5)",
      "ipython==8.12.3.1", "pip==1.2.3.4", "zipp==1.2.3.4", "upgrade pip 1.2.3.4",
      "dnspython==2.4.2.1", "types-mysqlclient==2.2.0.1", "resource-manager>=1.2.3.4,<2", "foo==1.2.3.4 ; x",
      "foo==1.2.3.4  # why", "## [1.2.3.4] (2020-01-02)", "## [1.2.3.4]\n\n- new",
      "at 2:1.0.99.4-1", "=2:1.0.99.4-12",
      "foo 1.2.5.1-2ubuntu1", "1.2.5.1-2~bpo12", "1.2.5.1-3.el9", "1.2.5.1-1+b1", "1.2.5.1+dfsg-1",
      "1.2.5.1-2+deb12u1",
    ])
    for address in [
      ">> 9.9.9.9", "ip.src == 9.9.9.9", "client_addr>=9.9.9.9", "9.9.9.1 >> 9.9.9.9", "2:9.9.9.9-12",
      "host/9.9.9.9", "9.9.9.9-12", "9.9.9.9-9.9.9.12", "at 2:9.9.9.9-9.9.9.12", "9.9.9.9-eth0",
      "<9.9.9.9>", "x=9.9.9.9",
      // What compares addresses and points at them.
      "INFO request >> 9.9.9.9 GET /", "reply << 9.9.9.9", "attacker == 9.9.9.9", "visitor != 9.9.9.9",
      "anyone >= 9.9.9.9", "anyone <= 9.9.9.9", "visitor (= 9.9.9.9)", "request (>> 9.9.9.9)",
      "The user ~> 9.9.9.9", "client ~> 9.9.9.9", "The visitor (= 9.9.9.9)", "The visitor (= 9.9.9.9-1)",
      "Ann, visitor (= 9.9.9.9), left", "  visitor (= 9.9.9.9) left", "  client (= 9.9.9.9)",
      "It depends: visitor (= 9.9.9.9)",
      "ip==9.9.9.9", "userIP==9.9.9.9", "src-ip>=9.9.9.9", "ipv4==9.9.9.9", "release IPs 9.9.9.9",
      // Logs.
      "9.9.9.9 2024-01-03T10:11:12Z GET /account", "9.9.9.9,2024-01-03", "9.9.9.9: 2024-01-03 seen",
      "[9.9.9.9] 2024-01-03 10:11:12 GET /", "9.9.9.9 2024-01-03\n", "9.9.9.9 - 2024-01-03 GET /",
      "9.9.9.9 - 2024-01-03T10:11:12Z", "9.9.9.9 (2024-01-03 10:11) GET /", "9.9.9.9/2024",
      "(== 9.9.9.9)", "visitor (!= 9.9.9.9)", "host (>= 9.9.9.9)", "\n== 9.9.9.9 or", "#9.9.9.9",
      "# 9.9.9.9 Ann's",
      // Identifiers, names and ranges behind an address.
      "session 9.9.9.9-7c2f9a11", "9.9.9.9-7fc29a11", "9.9.9.9-12fc2911", "9.9.9.9-7b1",
      "at 2:9.9.9.9-7c2f9a11",
      "9.9.9.9-7deb12", "9.9.9.9-device7", "9.9.9.9+443", "9.9.9.9+bugs", "9.9.9.9~ann", "9.9.9.9+7c2f",
      "update from 9.9.9.9", "build server 9.9.9.9",
      // Conditions and lists of addresses.
      "id.orig_h==9.9.9.9", "id.resp_h!=9.9.9.9", "X-Forwarded-For==9.9.9.9", "clientAddr==9.9.9.9",
      "any>=9.9.9.9 && any<=9.9.9.12", "any==9.9.9.9 or", "# 9.9.9.9 (anna)", "# 9.9.9.9 = gateway",
      "# 9.9.9.9]",
      "# 9.9.9.9\n# 8.8.8.8", "# 8.8.8.8\n# 9.9.9.9", "9.9.9.9 (2024-01-05)\n8.8.8.8 (2024-01-06)",
      "9.9.9.9 - 2024-01-05\n8.8.8.8 - 2024-01-06",
      // A version says nothing of what the text calls an address.
      "Firmware 9.9.1.7 released\nremote_addr=9.9.9.9 user=ann", "(v 9.9.1.2), client 9.9.9.9",
      "release 9.9.1.2; login from 9.9.9.9",
    ] {
      #expect(try found(address).contains("IP 9.9.9.9"), "\(address)")
    }
    // Only a word tells of other versions in the text.
    for version in ["foo>=9.9.1.2", "9.9.1.2-2ubuntu1", "# 9.9.1.2", "at 2:9.9.1.2-1"] {
      #expect(try found("\(version)\n9.9.9.9") == ["IP 9.9.9.9"], "\(version)")
    }
    #expect(
      try found("from 8.8.8.8 to 10.0.0.1, version 2 on 1.1.1.1; 0.0.0.0, Chrome/120.0.0.0 at 120.0.0.7") == [
        "IP 8.8.8.8", "IP 10.0.0.1", "IP 1.1.1.1", "IP 0.0.0.0", "IP 120.0.0.7",
      ])
  }

  @Test func paymentCards() throws {
    try expect(
      "CARD",
      [
        "4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "378282246310005",
        "3782 822463 10005",
        "5555555555554444", "2223003122003222", "6011111111111117", "3530111333300000", "30569309025904",
        "3056 930902 5904", "4222222222222", "6759649826438453", "2200000000000004", "180077777777772",
        "213112345678904", "501800000009", "060400000000", "5018 0000 0009", "3509343242834491",
        "4768487870652470697",
        "4111  1111  1111  1111", "4111.1111.1111.1111",
      ])
    try expectNothing([
      "4111111111111112", "4111 1111 1111 1112", "41111111111111111", "1234567812345670", "0000000000000000",
      "4111 1111-1111 1111", "411 11111 1111 1111", "x4111111111111111", "4111111111111111x",
      "4111 1111 1111", "79927398713", "9111111111111111", "490154203237518",
      // The last or first digits of longer numbers.
      "1234 5678 9012 3456", "5018 0000 0009 1234",
    ])
    #expect(
      try found("4111111111111111-4222222222222") == ["CARD 4111111111111111", "CARD 4222222222222"])
    #expect(try found("55229839-5091-9558-9908-355968618220").isEmpty)
    #expect(try found("4111111111111111-123") == ["CARD 4111111111111111"])
    #expect(try found("4111-1111-1111-1111-5") == ["CARD 4111-1111-1111-1111"])
    #expect(try found("12 4111 1111 1111 1111 99") == ["CARD 4111 1111 1111 1111"])
    // Fractions in measurements have the digits of cards.
    try expectNothing(["0.301029995663981", "7,0.5423394307527486\n", "31113.565404518005"])
    for text in [
      "No.4111111111111111", "4111111111111111.0", "1.4111 1111 1111 1111", "7,4111111111111111,8",
    ] {
      #expect(try found(text).count == 1, "\(text)")
    }
    // Tracks of a magnetic stripe, and of a chip.
    for (text, expected) in [
      (
        "%B4111111111111111^DOE/JANE^2512101000?;4111111111111111=2512101000?",
        ["CARD B4111111111111111^DOE/JANE^2512101000", "CARD 4111111111111111=2512101000"]
      ),
      ("%B4111 1111 1111 1111^DOE/J  ^2512 0?", ["CARD B4111 1111 1111 1111^DOE/J  ^2512 0"]),
      ("B4111111111111111^DOE^2512101 and", ["CARD B4111111111111111^DOE^2512101"]),
      ("4111111111111111D25121010000F 9F", ["CARD 4111111111111111D25121010000F"]),
      ("4111111111111111=9913 =2512x", ["CARD 4111111111111111"]), ("B4111111111111111", []),
      ("B4111111111111112^DOE^2512101", []),
    ] as [(String, [String])] {
      #expect(try found(text) == expected, "\(text)")
    }
    #expect(try found("exp 4111 1111 1111 1111 12/25") == ["CARD 4111 1111 1111 1111"])
  }

  @Test func bankAccounts() throws {
    try expect(
      "IBAN",
      [
        "GB82WEST12345698765432", "GB82 WEST 1234 5698 7654 32", "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00", "FR1420041010050500013M02606", "NO9386011117947",
        "BE68 5390 0754 7034",
        "MT84MALT011000012345MTLCAST001S", "gb82west12345698765432", "CH9300762011623852957",
        "DE89 37040044 05320130 00", "DE89-3704-0044-0532-0130-00", "DE89  3704  0044  0532  0130  00",
        "DE 89 3704 0044 0532 0130 00", "GB55ICCW8578802484593", "GB55 ICCW 8578 8024 8459 3",
      ])
    try expectNothing([
      "GB82WEST12345698765433", "GB82WEST1234569876543", "GB82WEST123456987654321",
      "XX82WEST12345698765432", "DE89370400440532013001", "GB82", "DE 89 3704 0044 0532 0130 01",
      "aGB82WEST12345698765432",
      "DE8937040044053201300", "be16 and be32 types",
    ])
  }

  @Test func onlyThoseAskedFor() throws {
    let text =
      "a@www.b.de http://10.0.0.1/ +1 212 555 1234 4111111111111111 GB82WEST12345698765432 ::1 "
      + "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
    #expect(
      try found(text) == [
        "EMAIL a@www.b.de", "URL http://10.0.0.1/", "PHONE +1 212 555 1234", "CARD 4111111111111111",
        "IBAN GB82WEST12345698765432", "IP ::1", "CRYPTO 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
      ])
    for (name, pattern) in PIIKinds.names where PIIKinds.all.contains(pattern) {
      let own = try found(text, pattern)
      #expect(!own.isEmpty && own.allSatisfy { $0.hasPrefix(name.uppercased() + " ") }, "\(name)")
    }
    #expect(try found(text, .ip) == ["IP 10.0.0.1", "IP ::1"])
    #expect(try found(text, []) == found(text))
    #expect(failure { _ = try found(text, PIIKinds(rawValue: 1 << 26)) }?.argument == "patterns")
  }

  @Test func rangesInThreeUnits() throws {
    let text = "\u{1F98A} müller@b.de, ça +1 212 555 1234"
    let entities = try EntityList(piiIn: text).entities
    #expect(entities.count == 2)
    for entity in entities {
      let part = entity.text(in: text)
      #expect(
        String(
          String.UnicodeScalarView(
            Array(text.unicodeScalars)[entity.codePoints.start..<entity.codePoints.end])) == part)
      #expect(
        String(decoding: Array(text.utf16)[entity.utf16.start..<entity.utf16.end], as: UTF16.self) == part)
    }
  }

  /// Any bytes give ranges within the text, in order and apart, and so does what each rule begins with, many times.
  /// `make linear` counts the steps.
  @Test func hostileTexts() throws {
    var random = TestRandom(5)
    let alphabet =
      Array(
        "@.:/+-( )[]'www.http://\\%0123456789abcdefDEGB\u{FC}\u{4E2D}\u{A0}\u{2011}\u{2013}\u{FF15}\u{200B}"
          .utf8) + [0xFF, 0xC3, 0, 10]
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      try bytes.withUnsafeBufferPointer { text in
        var last = 0
        for entity in try EntityList(piiIn: text).entities {
          #expect(entity.bytes.start >= last && entity.bytes.start < entity.bytes.end)
          last = entity.bytes.end
        }
        #expect(last <= text.count)
      }
    }
    for part in [
      "@", "a@", "a@b.", "1.", "1:", ":", "+1 ", "01 ", "\u{A0}", "\u{2013}1", "\u{FF11}", "[::", "#", "tel ",
      "(1)", "www.", "http://", "a:", "sip:", "a@b.de:a", "+1 212 555 1234,,1", "538 594 685 ", "DE89 ",
      "4111 ", "'", "0-",
      "a.b@c.d",
    ] {
      let text = String(repeating: part, count: (1 << 16) / part.utf8.count)
      #expect(try EntityList(piiIn: text).entities.count <= text.utf8.count)
    }
    var options = PIIOptions()
    nonisolated(unsafe) var polls = 0
    options.call.cancellation = Cancellation {
      polls += 1
      return polls > 1
    }
    let text = String(repeating: "1.", count: 4 << 20)
    #expect(failure { _ = try EntityList(piiIn: text, options: options) }?.status == .cancelled)
    options.call = CallOptions()
    options.call.maxBytes = 1000
    let many = String(repeating: "a@b.de ", count: 1000)
    #expect(failure { _ = try EntityList(piiIn: many, options: options) }?.argument == "max_bytes")
  }

  @Test func redaction() throws {
    let text = "Ana Gómez <ana@x.es>, Lima"
    func entity(_ label: String, _ start: Int, _ end: Int) -> Entity {
      let range = TextRange(start: start, end: end)
      return Entity(label: label, bytes: range, codePoints: range, utf16: range, score: 1)
    }
    let email = try EntityList(piiIn: text).entities
    let names = [entity("PER", 0, 10), entity("LOC", 23, 27)]
    #expect(try EntityList.redact(text, names + email) == "[PER] <[EMAIL]>, [LOC]")
    #expect(try EntityList.redact(text, email + names, .text(Array("…".utf8))) == "… <…>, …")
    #expect(try EntityList.redact(text, names, .text(Array("".utf8))) == " <ana@x.es>, ")
    #expect(try EntityList.redact(text, []) == text)
    // Overlapping ones are one, of the first and longest label; those that touch are two.
    let crossing = [entity("C", 3, 8), entity("B", 0, 4), entity("A", 0, 3), entity("D", 8, 10)]
    #expect(try EntityList.redact("0123456789", crossing) == "[B][D]")
    #expect(failure { _ = try EntityList.redact("0123", [entity("A", 2, 5)]) }?.status == .invalidArgument)
  }
}
