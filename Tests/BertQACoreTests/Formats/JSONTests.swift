import Testing

@testable import BertQACore

private func parse(
  _ text: String, limits: JSONParser.Limits = JSONParser.Limits()
) throws -> JSON {
  try parse(Array(text.utf8), limits: limits)
}

private func parse(
  _ bytes: [UInt8], limits: JSONParser.Limits = JSONParser.Limits()
) throws -> JSON {
  try bytes.withUnsafeBufferPointer { try JSONParser.parse($0, file: "f.json", limits: limits) }
}

private func integer(_ value: Int64) -> JSON { .number(.init(double: Double(value), integer: value)) }
private func double(_ value: Double) -> JSON { .number(.init(double: value, integer: nil)) }

struct JSONTests {
  @Test(arguments: [
    ("null", JSON.null), (" true\n", .bool(true)), ("\tfalse\r", .bool(false)),
    ("0", integer(0)), ("-0", integer(0)), ("-17", integer(-17)),
    ("9223372036854775807", integer(.max)), ("-9223372036854775808", integer(.min)),
    ("9223372036854775808", double(0x1p63)), ("18446744073709551616", double(0x1p64)),
    ("1000000000000000019884624838656", double(1e30)),
    ("1e-12", double(1e-12)), ("5.7", double(5.7)), ("-2.5E+3", double(-2500)), ("1.0", double(1)),
    ("[]", .array([])), ("[ 1 , [2]]", .array([integer(1), .array([integer(2)])])),
    ("{}", .object(.init())),
    ("\"\"", .string("")), ("\"é中😀\"", .string("é中😀")),
    (
      #""\"\\\/\b\f\n\r\t\u0041\u00e9\u4E2D\uD83D\uDE00\u0000""#,
      .string("\"\\/\u{8}\u{C}\n\r\tAé中😀\u{0}")
    ),
    (#""\ud7ff\ue000""#, .string("\u{D7FF}\u{E000}")),
  ])
  func reads(text: String, value: JSON) throws {
    #expect(try parse(text) == value)
  }

  @Test func keepsTheOrderOfMembersAndFindsTheLast() throws {
    guard case .object(let object) = try parse(#"{"b": 1, "a": 2, "b": 3}"#) else {
      Issue.record("not an object")
      return
    }
    #expect(object.members.map(\.key) == ["b", "a", "b"])
    #expect(object["b"] == integer(3))
    #expect(object["c"] == nil)
  }

  @Test(arguments: [
    ("", 0), ("  ", 2), ("nul", 0), ("True", 0), ("NaN", 0), ("Infinity", 0), ("'a'", 0),
    ("01", 0), ("-", 0), ("+1", 0), (".5", 0), ("1.", 0), ("1e", 0), ("1e+", 0), ("1e999", 0),
    ("[1", 2), ("[1,]", 3), ("[1 2]", 3), ("[,1]", 1), ("]", 0),
    ("{", 1), ("{1: 2}", 1), (#"{"a" 1}"#, 5), (#"{"a": 1,}"#, 8), (#"{"a": 1 "b": 2}"#, 8),
    (#""abc"#, 0), ("\"a\nb\"", 2), (#""\x41""#, 1), (#""\u12g4""#, 1), (#""\u123"#, 1),
    (#""\ud800""#, 1), (#""\udc00""#, 1), (#""\ud800\n""#, 1), (#""\ud800\u0041""#, 1), (#""\"#, 1),
    ("1 2", 2), ("{} x", 3), ("// c\n1", 0),
  ])
  func refusesAndSaysWhere(text: String, offset: Int) throws {
    let error = try #require(failure { _ = try parse(text) })
    #expect(error.status == .invalidModel)
    #expect(error.message.hasPrefix("f.json: not valid JSON at byte \(offset): "), "\(error)")
  }

  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]])
  func refusesInvalidUTF8(bytes: [UInt8]) throws {
    let error = try #require(failure { _ = try parse([0x22] + bytes + [0x22]) })
    #expect(error.message.hasSuffix("byte 0: string is not valid UTF-8"))
  }

  @Test func boundsDepthValuesAndSize() throws {
    let nested = { (depth: Int) in
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try parse(nested(64))
    #expect(failure { _ = try parse(nested(65)) }?.message.contains("64 levels") == true)
    #expect(
      failure { _ = try parse(String(repeating: #"{"a":"#, count: 1_000_000)) }?.message
        .contains("64 levels") == true)
    let few = JSONParser.Limits(values: 3, bytes: 20)
    _ = try parse("[1, 2]", limits: few)
    #expect(failure { _ = try parse("[1, 2, 3]", limits: few) }?.message.contains("3 values") == true)
    #expect(
      failure { _ = try parse("[1,      2          ]", limits: few) }?.status == .tooLarge)
    #expect(failure { _ = try parse(String(repeating: "9", count: 5000)) }?.status == .invalidModel)
  }

  @Test func writesWhatItReads() throws {
    let text = #"{"a": [1, -2.5, 1e-12, 1e30, true, null, {}, []], "\"é\u0001\\\n": {"b": "x"}}"#
    let value = try parse(text)
    #expect(try parse(value.text) == value)
  }

  /// Damaged texts are read or refused; the parser never reads beyond them.
  @Test func survivesDamage() {
    let text = Array(
      #"{"a": [1, -2.5e-3, "é\u00e9\ud83d\ude00"], "b": {"c": null, "d": true}, "e": "x\ny"}"#.utf8)
    var random = TestRandom(1)
    var refused = 0
    for _ in 0..<20_000 {
      var damaged = text
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 0..<damaged.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: damaged[at] = UInt8.random(in: 0...255, using: &random)
        case 1: damaged[at] = damaged[Int.random(in: 0..<damaged.count, using: &random)]
        case 2: damaged.remove(at: at)
        default: damaged.removeLast(min(damaged.count - 1, Int.random(in: 0..<20, using: &random)))
        }
      }
      // An exact allocation, so that a sanitizer sees a read past the end.
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: damaged.count)
      _ = copy.initialize(from: damaged)
      defer { copy.deallocate() }
      if failure({ _ = try JSONParser.parse(UnsafeBufferPointer(copy), file: "f") }) != nil {
        refused += 1
      }
    }
    #expect((10_000..<20_000).contains(refused))
  }
}
