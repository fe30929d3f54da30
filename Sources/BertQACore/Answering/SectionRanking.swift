import Glibc

/// A window of one of the documents of a question.
struct DocumentSection: Equatable {
  let document: Int
  let window: TokenWindow
}

/// BM25 (k1 1.2, b 0.75) of sections against a question, over token ids. The statistics are those of all sections of
/// all documents.
struct SectionRanking {
  private static let k1 = 1.2
  private static let b = 0.75

  /// By token id: the number of the question's term, 0 for ids that are not in the question, or past the end.
  private var termOfID: [UInt16] = []
  private var termCount = 0

  /// Uses the ids of `question` without duplicates, punctuation and unknown words.
  init(question: ArraySlice<Int32>, tokenizer: any Tokenizer) {
    let size = Int(question.max() ?? -1) + 1
    termOfID = [UInt16](repeating: 0, count: size)
    for id in question where id >= 0 && termOfID[Int(id)] == 0 && !tokenizer.isUninformative(id) {
      termCount += 1
      termOfID[Int(id)] = UInt16(truncatingIfNeeded: termCount)
    }
  }

  /// Returns one score per section, 0 if it has none of the question's terms. Two passes over the tokens, so that
  /// memory does not grow with sections × terms.
  /// - Parameter ids: by document.
  func scores(
    of sections: [DocumentSection], ids: [[Int32]], _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [Double] {
    var counts = [Int32](repeating: 0, count: termCount + 1)
    var sectionsWithTerm = [Int](repeating: 0, count: termCount + 1)
    var tokenCount = 0
    for section in sections {
      try monitor?.check()
      tokenCount += section.window.tokenCount
      count(section.window, ids[section.document], into: &counts)
      for term in 1..<(termCount + 1) where counts[term] > 0 { sectionsWithTerm[term] += 1 }
    }
    let total = Double(sections.count)
    let inverseFrequency = sectionsWithTerm.map { log(1 + (total - Double($0) + 0.5) / (Double($0) + 0.5)) }
    let meanLength = Double(tokenCount) / total
    return try sections.checkedMap(monitor.map { CallPoll($0) }) { section throws(BertQAError) in
      try monitor?.check()
      count(section.window, ids[section.document], into: &counts)
      let norm = Self.k1 * (1 - Self.b + Self.b * Double(section.window.tokenCount) / meanLength)
      var score = 0.0
      for term in 1..<(termCount + 1) {
        let frequency = Double(counts[term])
        score += inverseFrequency[term] * frequency * (Self.k1 + 1) / (frequency + norm)
      }
      return score
    }
  }

  private func count(_ window: TokenWindow, _ ids: [Int32], into counts: inout [Int32]) {
    counts.withUnsafeMutableBufferPointer { counts in
      termOfID.withUnsafeBufferPointer { termOfID in
        ids.withUnsafeBufferPointer { ids in
          counts.update(repeating: 0)
          for token in window.firstToken..<window.endToken {
            let id = Int(ids[token])
            if id >= 0 && id < termOfID.count { counts[Int(termOfID[id])] += 1 }
          }
        }
      }
    }
  }
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
