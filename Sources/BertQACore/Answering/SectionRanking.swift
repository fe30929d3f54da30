import Glibc

/// BM25 (k1 1.2, b 0.75) of a document's windows against a question, over token ids: which windows are
/// worth running the model on.
struct SectionRanking {
  private static let k1 = 1.2
  private static let b = 0.75

  /// The query term of a token id, by id; 0 for ids that are not in the query, or past the end.
  private var termOfID: [UInt16] = []
  private var termCount = 0

  /// `question` without duplicates, punctuation and unknown words.
  init(question: ArraySlice<Int32>, tokenizer: any Tokenizer) {
    let size = Int(question.max() ?? -1) + 1
    termOfID = [UInt16](repeating: 0, count: size)
    for id in question where id >= 0 && termOfID[Int(id)] == 0 && !tokenizer.isUninformative(id) {
      termCount += 1
      termOfID[Int(id)] = UInt16(truncatingIfNeeded: termCount)
    }
  }

  /// The `limit` best of `windows`, in document order. Of equals the earlier ones are taken. O(tokens).
  func best(
    _ limit: Int, of windows: [TokenWindow], ids: [Int32], _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [TokenWindow] {
    guard windows.count > limit else { return windows }
    let poll = monitor.map { CallPoll($0) }
    // The scores; what is made of them is accounted for where it is made.
    try monitor?.hold(windows.count, of: Double.self)
    let scores = try scores(of: windows, ids: ids, monitor)
    let ranked = try windows.indices.checkedSorted(poll) { (scores[$0], $1) > (scores[$1], $0) }
    return try ranked.prefix(limit).checkedSorted(poll, by: <).checkedMap { windows[$0] }
  }

  /// One score per window. Two passes over the tokens, so that memory does not grow with windows × terms.
  func scores(
    of windows: [TokenWindow], ids: [Int32], _ monitor: CallMonitor? = nil
  ) throws(BertQAError) -> [Double] {
    var counts = [Int32](repeating: 0, count: termCount + 1)
    var windowsWithTerm = [Int](repeating: 0, count: termCount + 1)
    for window in windows {
      try monitor?.check()
      count(window, ids, into: &counts)
      for term in 1..<(termCount + 1) where counts[term] > 0 { windowsWithTerm[term] += 1 }
    }
    let total = Double(windows.count)
    let inverseFrequency = windowsWithTerm.map { log(1 + (total - Double($0) + 0.5) / (Double($0) + 0.5)) }
    let meanLength = Double(windows.reduce(0) { $0 + $1.tokenCount }) / total
    return try windows.map { window throws(BertQAError) in
      try monitor?.check()
      count(window, ids, into: &counts)
      let norm = Self.k1 * (1 - Self.b + Self.b * Double(window.tokenCount) / meanLength)
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
