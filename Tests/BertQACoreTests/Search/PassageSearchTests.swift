import Glibc
import Testing

@testable import BertQACore

@Suite struct PassageSearchTests {
  static let length = 64

  /// Vectors of length 1, the same in every run.
  static func vectors(_ count: Int, seed: UInt64) -> [[Float]] {
    var numbers = SplitMix64(seed: seed)
    return (0..<count).map { _ in
      let vector = (0..<length).map { _ in Float(Int64(bitPattern: numbers.next()) >> 40) }
      let norm = vector.map { $0 * $0 }.reduce(0, +).squareRoot()
      return vector.map { $0 / norm }
    }
  }

  static func quantized(_ vectors: [[Float]]) throws -> (rows: [Int8], scales: [Float]) {
    var rows = [Int8](repeating: 0, count: vectors.count * length)
    var scales = [Float](repeating: 0, count: vectors.count)
    try vectors.flatMap { $0 }.withUnsafeBufferPointer { floats in
      try rows.withUnsafeMutableBufferPointer { rows in
        try scales.withUnsafeMutableBufferPointer { scales in
          try VectorRows.quantize(
            floats, length: length, rows: rows.baseAddress!, scales: scales.baseAddress!)
        }
      }
    }
    return (rows, scales)
  }

  static func search(
    _ question: [Float], _ text: String = "", isa: InstructionSet = .auto, threads: Int = 2
  ) throws -> PassageSearch {
    let kernels = try #require(Kernels(isa: isa.rawValue))
    let vector = try question.withUnsafeBufferPointer { try QuestionVector($0, kernels: kernels) }
    return try Array(text.utf8).withUnsafeBufferPointer {
      try PassageSearch(question: $0, vector: vector, threads: threads)
    }
  }

  static func add(
    _ data: (rows: [Int8], scales: [Float]), first: Int64, to search: PassageSearch
  ) throws {
    try data.rows.withUnsafeBufferPointer { rows in
      try data.scales.withUnsafeBufferPointer { scales in
        try search.addVectors(
          first: first, count: scales.count, rows: rows.baseAddress!, scales: scales.baseAddress!)
      }
    }
  }

  static func cosine(_ a: [Float], _ b: [Float]) -> Double {
    zip(a, b).map { Double($0) * Double($1) }.reduce(0, +)
  }

  /// All rows are compared, whatever the number in a block, with every instruction set.
  @Test(arguments: Context.instructionSets)
  func productsAreThoseOfTheVectors(isa: InstructionSet) throws {
    let question = Self.vectors(1, seed: 1)[0]
    for count in [1, 15, 255, 256, 257, 1500] {
      let vectors = Self.vectors(count, seed: UInt64(count))
      let search = try Self.search(question, isa: isa)
      try Self.add(Self.quantized(vectors), first: 1, to: search)
      let hits = search.best(count)
      #expect(hits.count == min(count, PassageSearch.depth))
      for hit in hits {
        #expect(abs(hit.score * 1.4 - Self.cosine(question, vectors[Int(hit.id) - 1])) < 0.02)
      }
      let best = vectors.indices.max {
        Self.cosine(question, vectors[$0]) < Self.cosine(question, vectors[$1])
      }
      #expect(hits.prefix(3).contains { Int($0.id) - 1 == best })
    }
  }

  @Test func blocksAndThreadsDoNotMatter() throws {
    let question = Self.vectors(1, seed: 1)[0]
    let vectors = Self.vectors(2000, seed: 2)
    let whole = try Self.search(question, threads: 1)
    try Self.add(Self.quantized(vectors), first: 1, to: whole)
    let parts = try Self.search(question, threads: 4)
    for first in stride(from: 0, to: 2000, by: 700) {
      try Self.add(
        Self.quantized(Array(vectors[first..<min(2000, first + 700)])), first: Int64(first + 1), to: parts)
    }
    #expect(whole.best(100) == parts.best(100))
  }

  static func setWords(
    _ matches: [(id: Int64, word: Int32, score: Double)], of search: PassageSearch
  ) throws {
    try matches.map(\.id).withUnsafeBufferPointer { ids in
      try matches.map(\.word).withUnsafeBufferPointer { words in
        try matches.map(\.score).withUnsafeBufferPointer { scores in
          try search.setWords(
            ids: ids.baseAddress!, words: words.baseAddress!, scores: scores.baseAddress!,
            count: matches.count)
        }
      }
    }
  }

  /// A passage gains by the square of its share of the words, whose weights are by hand: of ten passages, one has the
  /// first word and two have the second.
  @Test func wordsCountByTheirShare() throws {
    let question = Self.vectors(1, seed: 1)[0]
    let vectors = Self.vectors(10, seed: 2)
    let search = try Self.search(question)
    try Self.setWords([(3, 0, 9), (1, 1, 0), (3, 1, 0), (10, 2, 0)], of: search)
    try Self.add(Self.quantized(vectors), first: 1, to: search)
    let (rare, common) = (log(1 + 9.5 / 1.5), log(1 + 8.5 / 2.5))
    let whole = 2 * rare + common
    let hits = search.best(10)
    #expect(hits.count == 10)
    for hit in hits {
      let share = [1: common, 3: rare + common, 10: rare][hit.id, default: 0] / whole
      let expected = Self.cosine(question, vectors[Int(hit.id) - 1]) + 0.4 * share * share
      #expect(abs(hit.score * 1.4 - expected) < 0.02)
    }
  }

  /// Passages without a vector are found by their words, wherever their ids are.
  @Test func passagesWithoutVectorsAreFound() throws {
    let question = Self.vectors(1, seed: 1)[0]
    let search = try Self.search(question)
    try Self.setWords([(-5, 0, 0), (4, 0, 0), (9, 0, 0), (12, 0, 0)], of: search)
    try search.allow(first: -9, last: 6)
    try search.allow(first: 12, last: 20)
    try Self.add(Self.quantized(Self.vectors(2, seed: 2)), first: 1, to: search)
    try Self.add(Self.quantized(Self.vectors(2, seed: 3)), first: 6, to: search)
    #expect(Set(search.best(9).map(\.id)) == [-5, 1, 2, 4, 6, 12])
    #expect(
      search.best(9).filter { [-5, 4, 12].contains($0.id) }.allSatisfy { abs($0.score * 1.4 - 0.4) < 1e-9 })
    #expect(throws: BertQAError.self) { try Self.setWords([(1, 0, 0)], of: search) }
    #expect(throws: BertQAError.self) {
      try Self.add(Self.quantized(Self.vectors(1, seed: 3)), first: 7, to: search)
    }
  }

  /// Vectors that are refused change nothing: they may be added again.
  @Test func errorsChangeNothing() throws {
    let question = Self.vectors(1, seed: 1)[0]
    let data = try Self.quantized(Self.vectors(20, seed: 2))
    for allowed: [ClosedRange<Int64>] in [[], [1...4, 8...9, 15...30]] {
      let (search, other) = (try Self.search(question), try Self.search(question))
      for each in [search, other] {
        try Self.setWords([(2, 0, 0), (9, 0, 0), (19, 0, 0)], of: each)
        for range in allowed { try each.allow(first: range.lowerBound, last: range.upperBound) }
      }
      var wrong = data
      wrong.scales[18] = .nan
      #expect(failure { try Self.add(wrong, first: 1, to: search) }?.argument == "scales")
      try Self.add(data, first: 1, to: search)
      try Self.add(data, first: 1, to: other)
      #expect(search.best(100) == other.best(100) && !search.best(100).isEmpty)
    }
  }

  @Test func onlyAllowedPassagesAreFound() throws {
    let question = Self.vectors(1, seed: 1)[0]
    let search = try Self.search(question)
    try search.allow(first: 3, last: 4)
    try search.allow(first: 90, last: 95)
    try search.allow(first: 99, last: 200)
    #expect(throws: BertQAError.self) { try search.allow(first: 200, last: 300) }
    #expect(throws: BertQAError.self) { try search.allow(first: 302, last: 301) }
    try Self.add(Self.quantized(Self.vectors(60, seed: 2)), first: 1, to: search)
    try Self.add(Self.quantized(Self.vectors(40, seed: 3)), first: 61, to: search)
    #expect(Set(search.best(100).map(\.id)) == [3, 4, 90, 91, 92, 93, 94, 95, 99, 100])
    #expect(throws: BertQAError.self) {
      try Self.add(Self.quantized(Self.vectors(2, seed: 3)), first: .max, to: search)
    }
  }

  @Test func withoutVectorsTheOrderIsThatOfTheWords() throws {
    let search = try Array("Who signed".utf8).withUnsafeBufferPointer { try PassageSearch(question: $0) }
    #expect(String(decoding: search.query, as: UTF8.self) == "\"signed\"")
    let (rare, common) = (log(1 + 5.5 / 2.5), log(1 + 4.5 / 3.5))
    let most = 2.2 * (rare + common)
    try Self.setWords(
      [(3, 0, most / 2), (7, 0, 1), (5, 1, 0), (7, 1, 9), (7, 1, 9), (3, 0, 1), (9, 1, most / 4)], of: search)
    let hits = search.best(10)
    #expect(hits.map(\.id) == [7, 3, 9, 5] && hits[0].score == 1)
    #expect(abs(hits[1].score - (rare / (rare + common) + 0.5) / 2) < 1e-9)
    #expect(abs(hits[3].score - common / (rare + common) / 2) < 1e-9)
    #expect(throws: BertQAError.self) { try Self.setWords([(1, 0, .infinity)], of: search) }
  }

  @Test func queries() {
    func query(_ text: String) -> String? {
      let query = Array(text.utf8).withUnsafeBufferPointer { try? FullTextQuery.matching($0) }
      return query.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(query("Who cleaned the fan?") == "\"cleaned\" OR \"fan\"")
    #expect(query("Who is it") == "\"Who\" OR \"is\" OR \"it\"")
    #expect(query("NEAR(\"x\" -Zoë*)") == "\"NEAR\" OR \"x\" OR \"Zoë\"")
    #expect(query("?! ") == "\"\"" && query("") == "\"\"")
  }
}

@Suite struct PassageTests {
  @Test func passagesCoverTheText() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    let sentence = "The quick brown fox jumps over the dog. "
    for count in [0, 1, 5, 50, 500] {
      let text = Array(String(repeating: sentence, count: count).utf8)
      let passages = try text.withUnsafeBufferPointer { try context.passages(of: $0) }
      #expect(passages.isEmpty == (count == 0))
      var end = 0
      for passage in passages {
        #expect(text[end..<passage.start].allSatisfy { $0 == 0x20 })
        #expect((passage.count + 1) % sentence.utf8.count == 0)
        end = passage.end
      }
      #expect(text[end...].allSatisfy { $0 == 0x20 })
    }
  }

  @Test func fingerprintsTellModelsApart() throws {
    let context = try Context(tiny: "tiny-bert-embedder")
    let own = try context.vectorFingerprint()
    #expect(own.count == 4 + context.info.embeddingLength)
    func begin(_ fingerprint: [UInt8]) throws {
      _ = try fingerprint.withUnsafeBufferPointer {
        try context.search(question: UnsafeBufferPointer(start: nil, count: 0), fingerprint: $0)
      }
    }
    try begin(own)
    let other = try Context(tiny: "tiny-mpnet-embedder").vectorFingerprint()
    #expect(throws: BertQAError.self) { try begin(other) }
    #expect(throws: BertQAError.self) { try begin([]) }
  }

  /// Ranks of documents replace those by words.
  @Test func documentsAreReadByTheirRanks() throws {
    let context = try Context(tiny: "tiny-bert")
    let texts = (0..<20).map { "the dog number \($0) jumps over the fox" }
    let bytes = texts.map { Array($0.utf8) }
    var options = AnswerOptions()
    options.maxWindows = 1
    for best in [0, 7, 19] {
      let result = try withBytes(of: ["dog"] + texts) { texts throws(BertQAError) in
        try context.answer(
          question: texts[0], documents: texts.dropFirst().map { .text($0) },
          ranks: bytes.indices.map { $0 == best ? 1 : 0.5 }, options: options)
      }
      #expect(Set(result.answers.map(\.documentIndex)) == [best] && result.windowCount == 1)
    }
  }
}
