import Glibc

/// Makes entities of a text's tokens, one token after the other, as transformers' TokenClassificationPipeline does
/// (`pipelines/token_classification.py`): tokens to words, where the strategy is of words, and these to groups.
///
/// Memory: one word's sums, and what is found.
struct EntityAggregator {
  /// Bytes of the text, and the label that the entity begins with.
  struct Found {
    var start: UInt32
    var end: UInt32
    var label: Int32
    var score: Float
  }

  /// A token or a word with its label, or several of them that are one entity.
  private struct Part {
    var start: UInt32
    var end: UInt32
    var label: Int
    var score: Double
  }

  private(set) var found: [Found] = []

  private let labels: EntityLabels
  private let aggregation: TokenAggregation
  private let isWanted: [Bool]
  private let threshold: Float

  /// The word's bytes, and its label so far; for `average` that is chosen when the word ends.
  private var word: Part?
  private var wordTokens = 0
  /// `average`: sum of the word's tokens' probabilities, by label.
  private var sums: [Double]

  /// Whose label is its first part's, and whose score is the sum of its parts'.
  private var group: Part?
  private var groupParts = 0
  private var lastTag = 0

  init(
    _ labels: EntityLabels, _ aggregation: TokenAggregation, isWanted: [Bool], threshold: Float
  ) {
    self.labels = labels
    self.aggregation = aggregation
    self.isWanted = isWanted
    self.threshold = threshold
    sums = [Double](repeating: 0, count: aggregation == .average ? labels.count : 0)
  }

  /// - Parameters:
  ///   - probabilities: by label.
  ///   - range: the token's bytes.
  ///   - continuesWord: whether the token goes on with the word of the token before it.
  mutating func add(
    _ probabilities: UnsafeBufferPointer<Double>, _ range: TextRange, continuesWord: Bool,
    _ monitor: CallMonitor
  ) throws(BertQAError) {
    let label = Self.largest(probabilities)
    let token = Part(
      start: UInt32(range.start), end: UInt32(range.end), label: label, score: probabilities[label])
    switch aggregation {
    case .none: try give(token, count: 1, monitor)
    case .model, .simple: try addToGroup(token, monitor)
    case .first, .average, .max:
      if word == nil || !continuesWord {
        try endWord(monitor)
        word = token
      } else {
        word?.end = token.end
        if aggregation == .max, let best = word?.score, token.score > best {
          word?.label = label
          word?.score = token.score
        }
      }
      wordTokens += 1
      if aggregation == .average {
        for id in sums.indices { sums[id] += probabilities[id] }
      }
    }
  }

  /// After the last token.
  mutating func finish(_ monitor: CallMonitor) throws(BertQAError) {
    try endWord(monitor)
    try endGroup(monitor)
  }

  private mutating func endWord(_ monitor: CallMonitor) throws(BertQAError) {
    guard var ended = word else { return }
    if aggregation == .average {
      ended.label = sums.withUnsafeBufferPointer(Self.largest)
      ended.score = sums[ended.label] / Double(wordTokens)
      for id in sums.indices { sums[id] = 0 }
    }
    word = nil
    wordTokens = 0
    try addToGroup(ended, monitor)
  }

  private mutating func addToGroup(_ part: Part, _ monitor: CallMonitor) throws(BertQAError) {
    let label = labels[part.label]
    if group != nil, label.tag == lastTag, !label.begins {
      group?.end = part.end
      group?.score += part.score
    } else {
      try endGroup(monitor)
      group = part
    }
    groupParts += 1
    lastTag = label.tag
  }

  private mutating func endGroup(_ monitor: CallMonitor) throws(BertQAError) {
    if let group { try give(group, count: groupParts, monitor) }
    group = nil
    groupParts = 0
  }

  private mutating func give(_ part: Part, count: Int, _ monitor: CallMonitor) throws(BertQAError) {
    let score = Float(part.score / Double(count))
    guard isWanted[part.label], score >= threshold else { return }
    try found.makeRoom(for: 1, monitor)
    found.append(Found(start: part.start, end: part.end, label: Int32(part.label), score: score))
  }

  /// The index of the largest, of equals the first.
  private static func largest(_ values: UnsafeBufferPointer<Double>) -> Int {
    var best = 0
    for index in values.indices where values[index] > values[best] { best = index }
    return best
  }
}
