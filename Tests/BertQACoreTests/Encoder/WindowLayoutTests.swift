import Testing

@testable import BertQACore

@Suite struct WindowLayoutTests {
  static let tokenizer = FakeTokenizer(["a"])

  private func layout(
    _ first: Int, _ second: Int? = nil, length: Int, _ division: WindowLayout.Division = .strides(overlap: 0)
  ) throws -> [WindowLayout.Parts] {
    try layout(
      String(repeating: "a ", count: first), second.map { String(repeating: "a ", count: $0) },
      length: length, division)
  }

  private func layout(
    _ first: String, _ second: String? = nil, length: Int, _ division: WindowLayout.Division
  ) throws -> [WindowLayout.Parts] {
    let layout = WindowLayout(
      maxSequenceLength: length, division: division,
      template: Template(prefix: [0], separator: [1], suffix: [1]))
    return try withTokens(of: first) { first in
      guard let second else { return try layout.parts(first: first, second: nil) }
      return try withTokens(of: second) { try layout.parts(first: first, second: $0) }
    }
  }

  private func withTokens<Result>(of text: String, _ body: (TokenizedText) throws -> Result) throws -> Result
  {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      try body(
        TokenizedText(
          text: bytes, tokens: try Self.tokenizer.tokens(of: bytes, nil), tokenizer: Self.tokenizer))
    }
  }

  @Test func whatFitsIsOneWindow() throws {
    #expect(try layout(0, length: 8) == [.init(first: 0..<0)])
    #expect(try layout(6, length: 8) == [.init(first: 0..<6)])
    #expect(try layout(0, 0, length: 8) == [.init(first: 0..<0, second: 0..<0)])
    #expect(try layout(0, 5, length: 8) == [.init(first: 0..<0, second: 0..<5)])
    #expect(try layout(4, 1, length: 8) == [.init(first: 0..<4, second: 0..<1)])
  }

  /// The special tokens are the model's, and the window's length may be the caller's.
  @Test func specialTokensThatLeaveNoRoomAreRefused() throws {
    for special in 1...12 {
      for division in [
        WindowLayout.Division.truncated(atStart: true), .truncated(atStart: false), .sections(overlap: 2),
        .strides(overlap: 0),
      ] {
        let layout = WindowLayout(
          maxSequenceLength: 8, division: division,
          template: Template(prefix: [Int32](repeating: 0, count: special), separator: [], suffix: []))
        try withTokens(of: "a a a a a a a a a") { text in
          for (second, least) in [(nil, 1), (text, 2)] as [(TokenizedText?, Int)] {
            let parts = failure { _ = try layout.parts(first: text, second: second) }
            #expect(parts?.argument == (8 - special < least ? "max_seq_len" : nil), "\(special), \(division)")
          }
        }
      }
      let alone = failure {
        _ = try WindowLayout(
          maxSequenceLength: 8, documentStride: 0, maxPositions: 512,
          template: Template(prefix: [Int32](repeating: 0, count: special), separator: [], suffix: []))
      }
      #expect(alone?.argument == (special > 7 ? "max_seq_len" : nil), "\(special)")
    }
  }

  @Test func longTexts() throws {
    #expect(try layout(7, length: 8) == [.init(first: 0..<6), .init(first: 6..<7)])
    #expect(
      try layout(10, length: 8, .strides(overlap: 2))
        == [.init(first: 0..<6), .init(first: 4..<10)])
    // An overlap that leaves no new token is refused.
    #expect(try layout(10, length: 8, .strides(overlap: 5)).count == 5)
    #expect(failure { _ = try layout(10, length: 8, .strides(overlap: 6)) }?.argument == "doc_stride")
    #expect(failure { _ = try layout(6, length: 8, .strides(overlap: 6)) } == nil)
  }

  @Test func sectionsEndWhereSentencesDo() throws {
    let text = "a a a. A a a a. A a."
    #expect(
      try layout(text, length: 10, .sections(overlap: 2)) == [.init(first: 0..<4), .init(first: 4..<12)])
    #expect(
      try layout("a", text, length: 12, .sections(overlap: 2)) == [
        .init(first: 0..<1, second: 0..<4), .init(first: 0..<1, second: 4..<12),
      ])
  }

  @Test func theShorterOfAPairIsRepeated() throws {
    #expect(
      try layout(2, 12, length: 9)
        == [
          .init(first: 0..<2, second: 0..<4), .init(first: 0..<2, second: 4..<8),
          .init(first: 0..<2, second: 8..<12),
        ])
    #expect(
      try layout(7, 1, length: 9)
        == [.init(first: 0..<5, second: 0..<1), .init(first: 5..<7, second: 0..<1)])
  }

  @Test func longPairsAreReadSideBySide() throws {
    #expect(
      try layout(4, 10, length: 10)
        == [
          .init(first: 0..<3, second: 0..<4), .init(first: 3..<4, second: 4..<8),
          .init(first: 0..<3, second: 8..<10),
        ])
  }

  /// Every token is in a window, no window is too long, and the number of windows is linear.
  @Test func nothingIsLeftOutOrTooLong() throws {
    for length in [8, 9, 13, 32] {
      for division in [.strides(overlap: 0), .strides(overlap: 1), .sections(overlap: 2)]
        as [WindowLayout.Division]
      {
        for first in 0..<70 {
          for second in [nil, 0, 1, 2, 3, 4, 5, 30, 61] as [Int?] {
            let parts = try layout(first, second, length: length, division)
            #expect(Set(parts.flatMap { Array($0.first) }).count == first)
            #expect(Set(parts.flatMap { Array($0.second ?? 0..<0) }).count == second ?? 0)
            #expect(parts.allSatisfy { ($0.second == nil) == (second == nil) })
            #expect(
              parts.allSatisfy {
                $0.first.count + ($0.second.map { $0.count + 3 } ?? 2) <= length
              })
            #expect(parts.count <= 1 + max(first, second ?? 0))
          }
        }
      }
    }
  }

  /// Hugging Face's "longest_first": token by token from the longer text, of equal ones from the one that was shorter.
  @Test func cuttingTakesFromTheLonger() throws {
    for length in [8, 11] {
      for first in 0..<20 {
        #expect(
          try layout(first, length: length, .truncated(atStart: false))
            == [.init(first: 0..<min(first, length - 2))])
        #expect(
          try layout(first, length: length, .truncated(atStart: true))
            == [.init(first: max(0, first - length + 2)..<first)])
        for second in 0..<20 {
          var (a, b) = (first, second)
          while a + b > length - 3 { if a > b || a == b && first <= second { a -= 1 } else { b -= 1 } }
          #expect(
            try layout(first, second, length: length, .truncated(atStart: false))
              == [.init(first: 0..<a, second: 0..<b)])
          #expect(
            try layout(first, second, length: length, .truncated(atStart: true))
              == [.init(first: first - a..<first, second: second - b..<second)])
        }
      }
    }
  }
}
