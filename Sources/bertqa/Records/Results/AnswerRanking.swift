import BertQACore

/// What is printed of several documents: question by question, the best answers first, by the gap, which compares
/// documents better than the score.
struct AnswerRanking {
  struct Best {
    var gap: Float
    var isImpossible: Bool
  }

  /// For each question, over all documents; nil without an answer.
  private(set) var best: [Best?]
  /// For each question: what to print, and by what it is sorted.
  private var lines: [[(gap: Float, bytes: [UInt8])]]

  init(questionCount: Int) {
    best = Array(repeating: nil, count: questionCount)
    lines = Array(repeating: [], count: questionCount)
  }

  mutating func add(_ record: AnswerRecord, ofQuestion index: Int, _ new: [(gap: Float, bytes: [UInt8])]) {
    lines[index] += new
    guard let answer = record.result.answers.first, answer.gap > best[index]?.gap ?? -.infinity else {
      return
    }
    best[index] = Best(gap: answer.gap, isImpossible: record.result.isImpossible)
  }

  /// Prints what was added since the last time.
  mutating func write(to output: Output) throws(ToolError) {
    for index in lines.indices {
      let ranked = lines[index].enumerated().sorted {
        ($0.element.gap, $1.offset) > ($1.element.gap, $0.offset)
      }
      lines[index] = []
      for line in ranked { output.write(line.element.bytes) }
    }
    try output.flush()
  }
}
