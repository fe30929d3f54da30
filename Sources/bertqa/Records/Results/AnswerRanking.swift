import BertQACore

/// The printed answers of several documents: for each question the best answers first, sorted by gap, which
/// compares documents better than the score.
struct AnswerRanking {
  struct Best {
    var gap: Float
    var isImpossible: Bool
  }

  /// The best answer to each question over all documents; nil if there is none.
  private(set) var best: [Best?]
  /// The lines of each question with their sort key.
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

  /// Prints the lines added since the last call.
  mutating func write(to output: Output) throws(ToolError) {
    for index in lines.indices {
      for line in lines[index].sorted(by: { $0.gap > $1.gap }) { output.write(line.bytes) }
      lines[index] = []
    }
    try output.flush()
  }
}
