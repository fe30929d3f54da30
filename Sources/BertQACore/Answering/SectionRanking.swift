import Glibc

/// A window of one of the documents of a question.
struct DocumentSection: Equatable {
  let document: Int
  let window: TokenWindow
}

/// BM25 (k1 1.2, b 0.75) of sections against a question. The statistics are those of all sections of all documents.
///
/// Terms are the first six letters of words and their digits, in lower case and without accents, so that "invented"
/// and "inventor" are one term. In Hangul, whose letters are syllables, they are the first two. In scripts without
/// spaces, each character is a term. Six letters rank as well as Porter's stems, which exist for few languages.
struct SectionRanking {
  private static let k1 = 1.2
  private static let b = 0.75

  private let terms: QuestionTerms

  init(question: UnsafeBufferPointer<UInt8>, _ monitor: CallMonitor? = nil) throws(BertQAError) {
    terms = try QuestionTerms(question, monitor.map { CallPoll($0) })
  }

  /// Returns one score per section, 0 if it has none of the question's terms. Reads the text twice, so that memory does
  /// not grow with sections × terms.
  /// - Parameter texts: by document.
  func scores(
    of sections: [DocumentSection], texts: [TokenizedText], _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [Double] {
    var counts = [Int32](repeating: 0, count: terms.count)
    var sectionsWithTerm = [Int](repeating: 0, count: terms.count)
    var tokenCount = 0
    let poll = monitor.map { CallPoll($0) }
    for section in sections {
      try monitor?.check()
      tokenCount += section.window.tokenCount
      try terms.count(in: texts[section.document].text(of: section.window), into: &counts, poll)
      for term in counts.indices where counts[term] > 0 { sectionsWithTerm[term] += 1 }
    }
    let total = Double(sections.count)
    let weights = sectionsWithTerm.map { inverseDocumentFrequency(Double($0), of: total) }
    let meanLength = Double(tokenCount) / total
    return try sections.checkedMap(poll) { section throws(BertQAError) in
      try monitor?.check()
      try terms.count(in: texts[section.document].text(of: section.window), into: &counts, poll)
      let norm = Self.k1 * (1 - Self.b + Self.b * Double(section.window.tokenCount) / meanLength)
      var score = 0.0
      for term in counts.indices {
        let frequency = Double(counts[term])
        score += weights[term] * frequency * (Self.k1 + 1) / (frequency + norm)
      }
      return score
    }
  }
}

extension TokenizedText {
  /// Returns the bytes from the first token of a window to its last.
  fileprivate func text(of window: TokenWindow) -> UnsafeBufferPointer<UInt8> {
    guard window.tokenCount > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
    let (start, end) = (tokens.starts[window.firstToken], tokens.ends[window.endToken - 1])
    return UnsafeBufferPointer(rebasing: text[Int(start)..<Int(max(start, end))])
  }
}

/// The terms of a question, and how often a text has each.
private struct QuestionTerms {
  private let hasher = WordHasher()
  private var numbers: [UInt64: Int] = [:]
  /// A bit by the hash of each term. Most words of a text have other bits.
  private var filter: UInt64 = 0

  var count: Int { numbers.count }

  init(_ question: UnsafeBufferPointer<UInt8>, _ poll: CallPoll?) throws(BertQAError) {
    var numbers: [UInt64: Int] = [:]
    try Self.forEachTerm(of: question, hasher, poll) { hash in
      if numbers[hash] == nil { numbers[hash] = numbers.count }
    }
    for hash in numbers.keys { filter |= Self.filterBit(hash) }
    self.numbers = numbers
  }

  /// - Parameter counts: by term; overwritten.
  func count(
    in text: UnsafeBufferPointer<UInt8>, into counts: inout [Int32], _ poll: CallPoll?
  ) throws(BertQAError) {
    counts.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
    try Self.forEachTerm(of: text, hasher, poll) { hash in
      if filter & Self.filterBit(hash) != 0, let number = numbers[hash] { counts[number] += 1 }
    }
  }

  private static func filterBit(_ hash: UInt64) -> UInt64 { 1 << (hash & 63) }

  /// Calls `body` with the hash of each term.
  @inline(__always)
  private static func forEachTerm(
    of text: UnsafeBufferPointer<UInt8>, _ hasher: WordHasher, _ poll: CallPoll?, _ body: (UInt64) -> Void
  ) throws(BertQAError) {
    let unicode = UnicodeData.shared
    var scanner = WordScanner(text, minimumLength: 1, poll: poll)
    while try scanner.next() {
      let word = UnsafeBufferPointer(start: scanner.bytes, count: scanner.byteCount)
      var (hash, size, position) = (UInt64(0), 0, 0)
      while position < word.count {
        var unit = UTF8Codec.decode(word, at: position)
        position += unit.size
        if unit.scalar >= 0x80 { unit.scalar = unicode.base(of: unit.scalar) }
        switch unit.scalar {
        case 0x27, 0x2019, 0x5F, 0x202F:
          // "l'eau", "Mary's" and "file_name" have two terms.
          if hash != 0 { body(hash) }
          (hash, size) = (0, 0)
        case 0x300...0x36F: break
        case 0x30...0x39: hash = hasher.hash(hash, UInt64(unit.scalar))
        default:
          guard size < Self.letters else { continue }
          hash = hasher.hash(hash, UInt64(unit.scalar))
          size += UnicodeData.isHangulSyllable(unit.scalar) ? Self.letters / 2 : 1
        }
      }
      if hash != 0 { body(hash) }
    }
  }

  /// The maximum number of letters of a term.
  private static let letters = 6
}

/// Sections in the order in which they are read.
struct RankedSections {
  /// Best first; of equals the earlier one.
  let order: [Int]
  /// By section: its score as a share of the best one's, 0...1; 1 for all if no section has a term of the question.
  private let scores: [Double]
  /// 0 if no section has a term of the question.
  let best: Double

  init(scores: [Double], _ monitor: CallMonitor?) throws(BertQAError) {
    self.scores = scores
    best = scores.max() ?? 0
    order = try scores.indices.checkedSorted(monitor.map { CallPoll($0) }) {
      (scores[$0], $1) > (scores[$1], $0)
    }
  }

  func rank(of section: Int) -> Double { best > 0 ? scores[section] / best : 1 }
}
