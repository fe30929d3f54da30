import Testing

@testable import BertQACore

/// Byte-level merging against the definition of byte-pair encoding: over bytes, the pair of the lowest rank first and
/// of equal ones the leftmost, until none is left.
@Suite struct BytePairTests {
  private struct Pair: Hashable {
    let left: [UInt8]
    let right: [UInt8]
  }

  /// Pieces and merges, in bytes.
  private struct Table {
    /// By id; the first 256 are the bytes.
    private(set) var pieces = (0..<256).map { [UInt8($0)] }
    private var known = Set((0..<256).map { [UInt8($0)] })
    /// By rank.
    private(set) var merges: [Pair] = []
    /// Of equal merges the last one counts.
    private var ranks: [Pair: Int] = [:]

    mutating func add(_ piece: [UInt8]) {
      if known.insert(piece).inserted { pieces.append(piece) }
    }

    /// Adds a merge and, if they are new, its pieces and the one that it makes.
    mutating func add(_ left: [UInt8], _ right: [UInt8]) {
      for piece in [left, right, left + right] { add(piece) }
      ranks[Pair(left: left, right: right)] = merges.count
      merges.append(Pair(left: left, right: right))
    }

    mutating func shuffle(using random: inout TestRandom) {
      merges.shuffle(using: &random)
      for (rank, pair) in merges.enumerated() { ranks[pair] = rank }
    }

    /// Returns the pieces of a text.
    func split(_ text: [UInt8]) -> [[UInt8]] {
      var symbols = text.map { [$0] }
      while symbols.count > 1 {
        let found = (1..<symbols.count).map {
          ranks[Pair(left: symbols[$0 - 1], right: symbols[$0])] ?? .max
        }
        guard let least = found.min(), least != .max, let index = found.firstIndex(of: least) else { break }
        symbols[index] += symbols[index + 1]
        symbols.remove(at: index + 1)
      }
      return symbols
    }

    func model() throws -> BytePairModel {
      func spelling(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBufferPointer(ByteAlphabet.spelling) }
      return try BytePairModel(
        pieces: pieces.map(spelling), merges: merges.map { (spelling($0.left), spelling($0.right)) },
        BytePairSettings(), readsBytes: true, nil)
    }
  }

  /// Letters that share bytes with each other at either end, of 1 to 4 bytes.
  private static let letters = ["a", "b", "中", "丮", "亭", "五", "ж", "з", "é", "ї", "😀", "😁", "\u{FFFD}"]

  private static func text(
    _ letters: [String], _ count: Int, _ random: inout TestRandom
  ) -> [UInt8] {
    (0..<count).flatMap { _ in Array(letters.randomElement(using: &random)!.utf8) }
  }

  /// Merges of adjacent pieces of texts, as training finds them: each of pieces that merges before it make.
  private static func trained(
    _ letters: [String], _ count: Int, _ random: inout TestRandom
  ) -> Table {
    var table = Table()
    for _ in 0..<count {
      let pieces = table.split(text(letters, 12, &random))
      guard pieces.count > 1 else { continue }
      let index = Int.random(in: 1..<pieces.count, using: &random)
      table.add(pieces[index - 1], pieces[index])
    }
    return table
  }

  /// Merges of any pieces in any order: some cross the ends of characters, some never apply, some make the same piece.
  private static func odd(_ letters: [String], _ count: Int, _ random: inout TestRandom) -> Table {
    var table = Table()
    let bytes = Set(letters.flatMap(\.utf8)).sorted().map { [$0] }
    var made: [[UInt8]] = bytes + letters.map { Array($0.utf8) }.filter { $0.count > 1 }
    for letter in made.dropFirst(bytes.count) {
      // A character may lack the merges that make it.
      for end in 1..<letter.count where Bool.random(using: &random) {
        table.add(Array(letter[..<end]), Array(letter[end...]))
      }
      for begin in 0..<letter.count - 1 where Bool.random(using: &random) {
        table.add([letter[begin]], [letter[begin + 1]])
      }
    }
    made = table.pieces.filter { piece in bytes.contains { piece.starts(with: $0) } }
    for _ in 0..<count {
      table.add(made.randomElement(using: &random)!, made.randomElement(using: &random)!)
      if let piece = table.pieces.last, piece.count < 16 { made.append(piece) }
    }
    table.shuffle(using: &random)
    return table
  }

  private static func expectSplitsByDefinition(
    _ table: Table, _ letters: [String], texts: Int, _ random: inout TestRandom
  ) throws {
    let worker = try BytePairWorker(table.model())
    for _ in 0..<texts {
      let text = text(letters, Int.random(in: 1...60, using: &random), &random)
      let expected = table.split(text)
      let found = try (text + [UInt8](repeating: 0, count: NormalizedText.padding)).withUnsafeBufferPointer {
        let split = try worker.split($0.baseAddress!, count: text.count, nil, parsesSpecialTokens: false, nil)
        return (0..<split.count).map { index in
          (id: Int(split.id(index)), range: split.begin(index)..<split.end(index))
        }
      }
      #expect(
        found.map { table.pieces[$0.id] } == expected && found.map { Array(text[$0.range]) } == expected,
        "\(text) with the merges \(table.merges)")
    }
  }

  @Test func splitsByTrainedMerges() throws {
    var random = TestRandom(3)
    for round in 0..<60 {
      let letters = Array(Self.letters.shuffled(using: &random).prefix(2 + round % 11))
      let table = Self.trained(letters, Int.random(in: 1...80, using: &random), &random)
      try Self.expectSplitsByDefinition(table, letters, texts: 20, &random)
    }
  }

  @Test func splitsByOddMerges() throws {
    var random = TestRandom(4)
    for round in 0..<120 {
      let letters = Array(Self.letters.shuffled(using: &random).prefix(2 + round % 5))
      let table = Self.odd(letters, Int.random(in: 1...60, using: &random), &random)
      try Self.expectSplitsByDefinition(table, letters, texts: 20, &random)
    }
  }

  /// The symbols of a long pre-token count even if there is nothing to merge.
  @Test func countsTheMemoryOfSymbols() throws {
    let worker = try BytePairWorker(Table().model())
    var options = CallOptions()
    options.maxBytes = 1_000_000
    let monitor = CallMonitor(options)
    let text = Array(String(repeating: "中", count: 50_000).utf8)
    let error = failure {
      try (text + [UInt8](repeating: 0, count: NormalizedText.padding)).withUnsafeBufferPointer {
        _ = try worker.split($0.baseAddress!, count: text.count, nil, parsesSpecialTokens: false, monitor)
      }
    }
    #expect(error?.status == .tooLarge)
    #expect(monitor.heldBytes == 0)
  }

  /// More pairs of characters than are kept: the merge of the last byte of some with the first of others comes first.
  @Test func splitsByMergesOfPartsOfManyCharacters() throws {
    var random = TestRandom(5)
    var table = Table()
    table.add([0x80], [0xE4])
    let letters = (0x4000..<0x5000).map { String(Unicode.Scalar(UInt32($0))!) }
    for letter in letters {
      let bytes = Array(letter.utf8)
      table.add([bytes[0]], [bytes[1]])
      table.add([bytes[0], bytes[1]], [bytes[2]])
    }
    let met = letters.filter { $0.utf8.last == 0x80 } + letters.prefix(200) + ["a"]
    try Self.expectSplitsByDefinition(table, met, texts: 50, &random)
  }
}
