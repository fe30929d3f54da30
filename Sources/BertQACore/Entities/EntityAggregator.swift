import Glibc

/// Combines the tokens of a text to entities, one token after the other, as transformers'
/// TokenClassificationPipeline does (`pipelines/token_classification.py`). Strategies for words first combine
/// tokens to words; then tokens or words become groups.
///
/// Memory: the sums of one word, and the entities found.
struct EntityAggregator {
  /// A range in bytes of the text, and the label that starts the entity.
  struct Found {
    var start: UInt32
    var end: UInt32
    var label: Int32
    var score: Float
  }

  /// A token or word with its label, or several that form one entity.
  private struct Part {
    var start: UInt32
    var end: UInt32
    var label: Int
    var score: Double
  }

  private(set) var found: [Found] = []

  private let labels: EntityLabels
  private let aggregation: TokenAggregation
  /// By label; nil for those to omit.
  private let thresholds: [Float?]
  private let monitor: CallMonitor

  /// The word's bytes and its label so far. With `average` the label is chosen at the end of the word.
  private var word: Part?
  private var wordTokens = 0
  /// `average`: the sum of the probabilities of the word's tokens, by label.
  private var sums: [Double]

  /// Its label is that of its first part, and its score is the sum of its parts' scores.
  private var group: Part?
  private var groupParts = 0
  private var lastTag = 0

  init(
    _ labels: EntityLabels, _ aggregation: TokenAggregation, thresholds: [Float?],
    _ monitor: CallMonitor
  ) {
    self.monitor = monitor
    self.labels = labels
    self.aggregation = aggregation
    self.thresholds = thresholds
    sums = [Double](repeating: 0, count: aggregation == .average ? labels.count : 0)
  }

  /// - Parameters:
  ///   - probabilities: by label.
  ///   - range: the token's bytes.
  ///   - continuesWord: true if the token continues the word of the token before it.
  mutating func add(
    _ probabilities: UnsafeBufferPointer<Double>, _ range: TextRange, continuesWord: Bool
  ) throws(BertQAError) {
    let label = Self.largest(probabilities)
    let token = Part(
      start: UInt32(range.start), end: UInt32(range.end), label: label, score: probabilities[label])
    switch aggregation {
    case .none: try give(token, count: 1)
    case .model, .simple: try addToGroup(token)
    case .first, .average, .max:
      if word == nil || !continuesWord {
        try endWord()
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

  /// Ends the last entity after the last token.
  mutating func finish() throws(BertQAError) {
    try endWord()
    try endGroup()
  }

  private mutating func endWord() throws(BertQAError) {
    guard var ended = word else { return }
    if aggregation == .average {
      ended.label = sums.withUnsafeBufferPointer(Self.largest)
      ended.score = sums[ended.label] / Double(wordTokens)
      for id in sums.indices { sums[id] = 0 }
    }
    word = nil
    wordTokens = 0
    try addToGroup(ended)
  }

  private mutating func addToGroup(_ part: Part) throws(BertQAError) {
    let label = labels[part.label]
    if group != nil, label.tag == lastTag, !label.begins {
      group?.end = part.end
      group?.score += part.score
    } else {
      try endGroup()
      group = part
    }
    groupParts += 1
    lastTag = label.tag
  }

  private mutating func endGroup() throws(BertQAError) {
    if let group { try give(group, count: groupParts) }
    group = nil
    groupParts = 0
  }

  private mutating func give(_ part: Part, count: Int) throws(BertQAError) {
    let score = Float(part.score / Double(count))
    guard let threshold = thresholds[part.label], score >= threshold else { return }
    try found.makeRoom(for: 1, monitor)
    found.append(Found(start: part.start, end: part.end, label: Int32(part.label), score: score))
  }

  /// Returns the index of the largest value; of equal ones, the first.
  private static func largest(_ values: UnsafeBufferPointer<Double>) -> Int {
    var best = 0
    for index in values.indices where values[index] > values[best] { best = index }
    return best
  }
}
