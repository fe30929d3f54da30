import Foundation
import Testing

@testable import BertQACore

@Suite struct ExpressionTests {
  /// Returns the text with the extended range of the part in «».
  static func extended(_ marked: String) -> String {
    let parts = marked.components(separatedBy: ["«", "»"])
    let text = Array(parts.joined().utf8)
    let start = parts[0].utf8.count
    return text.withUnsafeBufferPointer {
      ExpressionFinder(text: TextBytes(bytes: $0))
        .extended(TextRange(start: start, end: start + parts[1].utf8.count))
    }.text(in: text)
  }

  @Test(arguments: [
    // Addresses.
    ("write to «jane.doe»@example.org, please", "jane.doe@example.org"),
    ("write to <jane@«example»>", "example"),
    ("write to <jane@«example».org>", "jane@example.org"),
    ("(zoë_1+news@«mail».example.co.uk)", "zoë_1+news@mail.example.co.uk"),
    ("see «https»://example.org/a_(b)?c=d#e.", "https://example.org/a_(b)?c=d#e"),
    ("(see https://example.org/«a».)", "https://example.org/a"),
    ("see www.«example».org: it", "www.example.org"),
    ("read «example».org/news/1, it", "example.org/news/1"),
    ("read «it».He said", "it"),
    // Numbers of accounts and telephones.
    ("to IBAN «DE89» 3704 0044 0532 0130 00, BIC", "DE89 3704 0044 0532 0130 00"),
    ("call +33 «6 12 34» 56 78 or", "+33 6 12 34 56 78"),
    ("fax: («412») 268-7395", "(412) 268-7395"),
    ("Tel. 030 «901820».", "030 901820"),
    ("rows of «12» 34 56 78 each", "12"),
    // Numbers.
    ("it cost $«5» in all", "$5"),
    ("it cost «5» million dollars", "5 million"),
    ("it cost US$«1,200».50.", "US$1,200.50"),
    ("it cost R«$ 20» in all", "R$ 20"),
    ("it cost € «20»,50 in all", "€ 20,50"),
    ("a loan of 1,«50»,000 rupees", "1,50,000"),
    ("1.234,«5» in all", "1.234,5"),
    // Cells of a table.
    ("A1,«12.50»,3,2024-01-05,37.50", "12.50"),
    ("A2,7.25,10,2024-02-06,«72.50»", "72.50"),
    ("A2,7.25,«10»,2024-02-06,72.50", "10"),
    ("R,1,«2»,3,4", "2"),
    ("it cost 20 € «30» times", "30"),
    ("it cost 5 «million»", "5 million"),
    ("it cost 5\n«million»", "5\nmillion"),
    ("it cost 5\r\n«million»", "5\r\nmillion"),
    ("| 5\n«million» |", "million"),
    ("a\t5\n«million»\t6", "million"),
    ("in $\n«2019»\t500", "2019"),
    ("in US$\r\n«2019»\t500", "2019"),
    ("of 12\r\n«345» more", "345"),
    ("it cost 5 «million» €, then", "5 million €"),
    ("at «-40» °C, or", "-40 °C"),
    ("at −40«°»C", "−40°C"),
    ("«384\u{A0}400» km off", "384\u{A0}400 km"),
    ("384\u{202F}«400» km", "384\u{202F}400 km"),
    ("at 60 «km»/h", "60 km/h"),
    ("of 12 «m²» each", "12 m²"),
    ("some 6 × «10»²³ atoms", "10²³"),
    ("a size of 10«⁻⁹» m", "10⁻⁹ m"),
    ("at «7» p.m. today", "7 p.m."),
    ("from «12»:30 on", "12:30"),
    ("on 31/«12»/2026", "31/12/2026"),
    // Dates and times.
    ("«2026»-05-09 07:29:29 INFO started", "2026-05-09"),
    ("2026-05-09T07:29«:29Z» INFO", "2026-05-09T07:29:29Z"),
    ("at «2026»-05-09T07:29:29.123+02:00, then", "2026-05-09T07:29:29.123+02:00"),
    ("on «2026»/05/09 and", "2026/05/09"),
    ("[«09»/May/2026:07:29:29 +0000]", "09/May/2026:07:29:29"),
    ("on «9»-May-2026, it", "9-May-2026"),
    ("at 07:29:«29»+02:00", "07:29:29+02:00"),
    ("at 2026-05-09T07:«29»-05:00", "2026-05-09T07:29-05:00"),
    ("sleep «06:12»-18:25, then", "06:12"),
    ("sleep 06:12-«18:25», then", "18:25"),
    ("open 09:00:00-«17:00:00»", "17:00:00"),
    ("open «09:00:00»-11:00:00", "09:00:00"),
    ("from «22:00»-0600", "22:00"),
    ("am 5.März.«2020» um", "5.März.2020"),
    ("«05»-сентября-2020", "05-сентября-2020"),
    ("at «12»:30 p.m. it", "12:30 p.m."),
    ("from «2014»-2016 on", "2014"),
    ("the season «2025»/26", "2025"),
    ("version 1.2026.05.«09»", "1.2026.05.09"),
    ("a share of «12».5%, then", "12.5%"),
    ("a share of 12.«5» %", "12.5 %"),
    // Options and divided words.
    ("use --«dry-run», or", "--dry-run"),
    ("use [--«exclude-caches»-all]", "--exclude-caches-all"),
    ("a «-»x or -y", "-x"),
    ("a -«x».", "-x"),
    ("list: -«apples» and", "apples"),
    ("and the two—«this» one", "this"),
    ("pre--«this» one", "this"),
    ("it is «im-»\n    portant to", "im-\n    portant"),
    ("it is «im-»\r\n  portant to", "im-\r\n  portant"),
    ("it is im-\u{2028}«port»ant to", "im-\u{2028}portant"),
    ("su‐\r\n\t«per» user", "su‐\r\n\tper"),
    ("the years «1990-»\nthey", "1990-"),
    ("in the «North-»\nEast", "North-"),
    // Paths.
    ("in «/etc/apt/sources».list, say", "/etc/apt/sources.list"),
    ("in /etc/apt/«sources.list».", "/etc/apt/sources.list"),
    ("edit /home/jane/«settings».yaml first", "/home/jane/settings.yaml"),
    ("put in «tmp» or /tmp.", "tmp"),
    ("put in /«tmp».", "/tmp"),
    ("the file ~/«.bashrc», which", "~/.bashrc"),
    ("run ./«build.sh» now", "./build.sh"),
    ("under $HOME/«lib»/x", "$HOME/lib/x"),
    ("in «src»/main.c there", "src/main.c"),
    ("in docs/«my_notes»/a", "docs/my_notes/a"),
    (#"in C:\«Windows»\win.ini."#, #"C:\Windows\win.ini"#),
    (#"in C:\Program «Files» (x86)\Git\bin, or"#, #"C:\Program Files (x86)\Git\bin"#),
    (#"on \\server\«share» there"#, #"\\server\share"#),
    ("from s3://«bucket»/key.", "s3://bucket/key"),
    ("(see /usr/«share»/doc/)", "/usr/share/doc/"),
    // Names.
    ("call «foo».bar() first", "foo.bar()"),
    ("call «main» or main() there", "main"),
    ("call main«()» there", "main()"),
    ("call foo.«bar» first", "bar"),
    ("edit «settings».yaml, then", "settings.yaml"),
    ("the «os».path.join function", "os.path.join"),
    ("of std::«vector» in", "std::vector"),
    ("set «max»_answer_len to", "max_answer_len"),
    ("on «db01».internal,", "db01.internal"),
    ("with node.«js».", "node.js"),
    ("edit README«.»md", "README.md"),
    ("a django.core.signing.«TimestampSigner».", "django.core.signing.TimestampSigner"),
    ("of type «models».ForeignKey, it", "models.ForeignKey"),
    ("of type «QtCore».MainWindow, it", "QtCore.MainWindow"),
    ("in «Boston».MacArthur came", "Boston"),
    ("call System.out.«println», or", "System.out.println"),
    ("as CVE-«2025-26699» and", "CVE-2025-26699"),
    ("licence BSD-«3»-Clause or", "BSD-3-Clause"),
    ("an «F»-16, which", "F-16"),
    ("install dconf-«gsettings»-backend now", "dconf-gsettings-backend"),
    ("an «F-16»-based one", "F-16"),
    ("the «Paris»-Nice race", "Paris"),
    ("a «5»-year-old boy", "5"),
    ("a «thirty»-year-old baker", "thirty"),
    ("a three-«bedroom»-apartment", "bedroom"),
    ("the «Paris»-2024-Olympics", "Paris"),
    ("a «Boeing»-737-8, an", "Boeing-737-8"),
    ("with «Llama»-3-8B-Instruct", "Llama-3-8B-Instruct"),
    ("with --no-«install»-recommends", "--no-install-recommends"),
    // Versions.
    ("since «1.2.3»-rc1, it", "1.2.3-rc1"),
    ("since v2.0«-beta»", "v2.0-beta"),
    ("since v«1.2.3»,", "v1.2.3"),
    ("libssl3:amd64 «3.0.11»-1 to", "3.0.11-1"),
    ("a «2.5»-inch disk", "2.5"),
    ("from «1.5»-2.5 m", "1.5"),
    ("until «01.02.2020»-05.02.2020", "01.02.2020"),
    // A full stop without a space behind it, and what slashes stand between.
    ("the «end».The next", "end"),
    ("a «product».works well", "product"),
    ("in «1999».he left", "1999"),
    ("in «Paris».He left", "Paris"),
    ("«and»/or both", "and"),
    ("the «input»/output port", "input"),
    ("«he»/she", "he"),
    ("wait...«what»", "what"),
    ("_«emphasis»_ here", "emphasis"),
    ("the state-of-the-«art» one", "art"),
    // Words and ranges that are answers by themselves.
    ("for «5» years", "5"),
    ("for 5 «years»", "years"),
    ("from «1914»–1918", "1914"),
    ("from 1914-«1918»", "1918"),
    ("the season «2025»/26", "2025"),
    ("He left in «1990». 5 km on", "1990"),
    ("pages 3, «4», 5", "4"),
    ("«Tesla»'s car", "Tesla"),
    // Abbreviations.
    ("in the «U».S. in May", "U.S."),
    ("in the «U.S» in May", "U.S"),
    ("of the «U.S»., as", "U.S."),
    ("a Ph.«D». in", "Ph.D."),
    ("by «Apple Inc». in", "Apple Inc."),
    ("by Dr«. Smith»", "Dr. Smith"),
    ("it was «red». Then", "red"),
    ("at «10 a».m.", "10 a.m."),
    // Nothing to do.
    ("«all of it»", "all of it"),
    ("«»", ""),
  ])
  func keepsExpressionsWhole(_ marked: String, _ expected: String) {
    #expect(Self.extended(marked) == expected, "\(marked)")
  }

  @Test func rangesAreOfWholeCharacters() {
    var random = TestRandom(4)
    let parts = [
      "5", "€", "a", ".", "@", "°", " ", "ß", "-", "\u{A0}", "http://", "www.", "x.com", "%", "漢", "/", ",",
    ]
    for _ in 0..<2000 {
      let pieces = (0..<Int.random(in: 2...24, using: &random)).map { _ in
        parts.randomElement(using: &random)!
      }
      let cut = Int.random(in: 0...pieces.count, using: &random)
      let text = Array(pieces.joined().utf8)
      let start = pieces[..<cut].joined().utf8.count
      let range = text.withUnsafeBufferPointer {
        ExpressionFinder(text: TextBytes(bytes: $0)).extended(TextRange(start: start, end: text.count))
      }
      #expect(range.start <= start && range.end == text.count)
      #expect(String(validating: text[range.start...], as: UTF8.self) != nil, "\(pieces) \(range)")
    }
  }

  /// A megabyte without white space, and any bytes.
  @Test func hostileTextsTakeBoundedWork() {
    var random = TestRandom(5)
    var texts = ["5", "a", "@", ".", "a.", "http://", "5,", "$", "€", "w.com", "1 "].map {
      Array(String(repeating: $0, count: 1 << 18).utf8)
    }
    texts.append((0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &random) })
    for text in texts {
      text.withUnsafeBufferPointer { bytes in
        let finder = ExpressionFinder(text: TextBytes(bytes: bytes))
        for start in stride(from: 0, to: bytes.count - 3, by: bytes.count / 37) {
          let range = finder.extended(TextRange(start: start, end: start + 2))
          #expect(range.start <= start && range.end >= start + 2 && range.end <= bytes.count)
          #expect(range.end - range.start < 10_000)
        }
      }
    }
  }

  /// Returns the part between two marks without stray marks, and with those it lacks.
  static func paired(_ marked: String, between marks: CharacterSet = ["«", "»"]) -> String {
    let parts = marked.components(separatedBy: marks)
    let text = Array(parts.joined().utf8)
    let start = parts[0].utf8.count
    return text.withUnsafeBufferPointer {
      ExpressionFinder(text: TextBytes(bytes: $0))
        .withoutStrayMarks(TextRange(start: start, end: start + parts[1].utf8.count))
    }.text(in: text)
  }

  @Test(arguments: [
    ("140 lb («64 kg)», with", "64 kg"),
    ("140 lb «(64 kg»), with", "64 kg"),
    ("in «Article 101(1»), which", "Article 101(1)"),
    ("((«p − 1)! + 1») is", "(p − 1)! + 1"),
    ("in «f((a, b»)) there", "f((a, b))"),
    ("to «abe@example.org>».", "abe@example.org>"),
    ("to «<abe@example.org»>.", "<abe@example.org>"),
    ("if «a > b» and", "a > b"),
    ("a) «the first), b)» c", "the first), b"),
    ("it was «good :)» then", "good :)"),
    ("in (see «ticket 35012).» It", "ticket 35012"),
    ("says \"«trixie/sid\"».", "trixie/sid"),
    ("\"«You\" is you», if", "\"You\" is you"),
    ("it «says \"no»\" to", "says \"no\""),
    ("a screen of «13\"» or", "13\""),
    ("“«We» came”, he", "We"),
    ("he said «“we came»”", "we came"),
    ("„Ja“ und «„nein»“.", "nein"),
    ("er sagt «„Ja“» und", "„Ja“"),
    ("er sagt „«Ja“»", "Ja"),
    ("a «\"one\" and \"two»\"", "\"one\" and \"two\""),
    ("和«「日本」»と", "「日本」"),
    ("和「«日本」»と", "日本"),
    ("東京«（首都»", "首都"),
    ("one «\"» here", "\""),
    ("ask ``«brew install fish`»`", "brew install fish"),
    ("by «_Ann Smith»_ in", "Ann Smith"),
    ("by _«Ann Smith_» in", "Ann Smith"),
    ("by ~~«Ann Smith~»~ in", "Ann Smith"),
    ("the «_private» name", "_private"),
    ("it is «__init__.py»_", "__init__.py"),
    ("by «**Ann Smith»** in", "Ann Smith"),
    ("by *«*Ann Smith**» in", "Ann Smith"),
    ("by **«Ann Smith**».", "Ann Smith"),
    ("by (**«Ann Smith»**).", "Ann Smith"),
    ("by (*«*Ann Smith»**).", "Ann Smith"),
    ("by («Ann *Smith»*).", "Ann *Smith*"),
    ("by «***Ann Smith***» in", "Ann Smith"),
    ("by «*Ann* and *Bob*» in", "*Ann* and *Bob*"),
    ("by «_file_name_» in", "file_name"),
    ("by «__init__» in", "__init__"),
    ("by «__Ann__» in", "Ann"),
    ("by «`_a_`» in", "a"),
    ("by **«Ann** Smith» in", "**Ann** Smith"),
    ("by «Ann **Smith»** in", "Ann **Smith**"),
    ("by «5 * 3» * 2", "5 * 3"),
    ("by 2*«a*b» in", "a*b"),
    ("by _«file_name» in", "file_name"),
    ("é_«a_» b", "a_"),
    ("****«a****» b", "a****"),
    ("by «[Ann](ann.md)» in", "Ann"),
    ("by [«Ann](ann.md)» in", "Ann"),
    ("by «[Ann]»(ann.md) in", "Ann"),
    ("by «[Ann]» in", "[Ann]"),
    ("by «[Ann](a.md) (Bob)» in", "[Ann](a.md) (Bob)"),
    ("by «[[Ann]]» in", "Ann"),
    ("by «[[ann|Ann]]» in", "Ann"),
    ("by «[[Ann]] and [[Bob]]» in", "[[Ann]] and [[Bob]]"),
    ("by «<b>Ann</b>» in", "Ann"),
    ("by «<b>Ann»</b> in", "Ann"),
    ("by <b>«Ann</B>» in", "Ann"),
    ("by «<i><a href=\"/ann\">Ann</a></i>» in", "Ann"),
    ("by <b>«Ann</b> (Bob)» in", "Ann</b> (Bob)"),
    ("by «Bob <b>Ann»</b> in", "Bob <b>Ann"),
    ("by «<b>Ann</b> and <b>Bob</b>» in", "<b>Ann</b> and <b>Bob</b>"),
    ("<b>«</b> Ann» in", "Ann"),
    ("the «vector<int>» of", "vector<int>"),
    ("the «<title> element» of", "<title> element"),
    ("in «</b>» here", "</b>"),
    ("they left«. The others stayed» here", "The others stayed"),
    ("items\n«* Milk,» bread", "Milk"),
    ("| a «| b |» c |", "b"),
    ("│ a «│b     │» c │", "b"),
    ("║«║ b ║»║", "b"),
    ("«○ the second level» ends", "the second level"),
    ("a «★ point □» here", "point"),
    ("it has «★★★☆☆» of five", "★★★☆☆"),
    ("at «+ 5 degrees» or", "+ 5 degrees"),
    ("see «allow_abbrev¶»\n\nNormally", "allow_abbrev"),
    ("times()«¶\n\nReturns the times». It", "Returns the times"),
    ("nach «§ 5» gilt", "§ 5"),
    ("at «-5 °C» or", "-5 °C"),
    ("Ça va, «bonjour !» Oui", "bonjour !"),
    ("((((((((((«x))))))))))» y", "x))"),
  ])
  func marksComeInPairs(marked: String, expected: String) {
    #expect(Self.paired(marked) == expected)
  }

  @Test(arguments: [
    ("dit [«oui»] et", "«oui»"),
    ("sagt [»ja«] und", "»ja«"),
    ("sagt [»ja] und«", "ja"),
    ("sagt [»ja« und »nein]«", "»ja« und »nein«"),
  ])
  func quotesOpenByTheLanguage(marked: String, expected: String) {
    #expect(Self.paired(marked, between: ["[", "]"]) == expected)
  }
}
